import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from './schema'

/** Tables of which rows are forgotten. */
type Forgettable =
  | 'credit_lease'
  | 'credit_demand'
  | 'credit_held'
  | 'gateway_hour'
  | 'usage_sum'
  | 'request_sum'
  | 'request_minute'
  | 'organization_sum'
  | 'organization_trail'
  | 'automation_message'
  | 'automation_session'
  | 'invitation'
  | 'auth_rate_limit'
  | 'stored_response'
  | 'conversation'
  | 'node'

const rowsAtOnce = 5000
const statementsAtOnce = 100

/**
 * Deletes rows that are old, in small statements: nobody waits long for one of these. Resolves with how
 * many there were; of very many some are left for the next time.
 */
export async function forgetRows(
  db: Kysely<Schema>,
  table: Forgettable,
  isOld: RawBuilder<unknown>,
): Promise<number> {
  let forgotten = 0
  for (let statement = 0; statement < statementsAtOnce; statement++) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid in (
        select ctid from ${sql.table(table)} where ${isOld} limit ${rowsAtOnce}
      )`.execute(db)
    forgotten += Number(numAffectedRows)
    if (numAffectedRows < rowsAtOnce) break
  }
  return forgotten
}
