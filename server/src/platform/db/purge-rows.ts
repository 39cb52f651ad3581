import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from './schema'

/** Tables whose old rows are purged. */
type PurgeableTable =
  | 'credit_lease'
  | 'credit_demand'
  | 'credit_held'
  | 'limit_share'
  | 'gateway_hour'
  | 'previous_secret'
  | 'usage_sum'
  | 'usage_tag_sum'
  | 'request_sum'
  | 'request_tag_sum'
  | 'request_tag_set'
  | 'request_minute'
  | 'organization_sum'
  | 'organization_trail'
  | 'audit_outbox'
  | 'automation_message'
  | 'automation_session'
  | 'invitation'
  | 'auth_rate_limit'
  | 'stored_response'
  | 'conversation'
  | 'node'

const rowsPerStatement = 5000
const maxStatements = 100

/**
 * Deletes old rows in small statements, so that other statements wait only briefly. Resolves with the number of
 * deleted rows; of very many rows some remain for the next run.
 */
export async function purgeRows(
  db: Kysely<Schema>,
  table: PurgeableTable,
  isOld: RawBuilder<unknown>,
): Promise<number> {
  let forgotten = 0
  for (let statement = 0; statement < maxStatements; statement++) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid in (
        select ctid from ${sql.table(table)} where ${isOld} limit ${rowsPerStatement}
      )`.execute(db)
    forgotten += Number(numAffectedRows)
    if (numAffectedRows < rowsPerStatement) break
  }
  return forgotten
}
