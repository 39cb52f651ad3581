import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from './schema'
import { rewrap, secretColumns, type SealingKeys } from './sealed'

const perBatch = 100

type SecretColumn = (typeof secretColumns)[number]

/** The result for the secrets that were not under the first key. */
export interface RewrapResult {
  rewrapped: number
  /** Secrets that do not open: the id of the row, and the reason. */
  closed: { id: string; why: string }[]
}

/**
 * Rewraps every stored secret under the first of `keys`, one batch for each transaction: after any interruption every
 * secret still opens, and the next run does the rest. Secrets that were replaced meanwhile are left unchanged.
 */
export async function rewrapSecrets(
  db: Kysely<Schema>,
  keys: SealingKeys,
  onBatch: (doneCount: number) => void = () => undefined,
): Promise<RewrapResult> {
  const total: RewrapResult = { rewrapped: 0, closed: [] }
  for (const column of secretColumns) {
    let after: string | undefined = ''
    while (after !== undefined) {
      const from: Position = { column, after, closed: total.closed }
      const batch = await db.transaction().execute((trx) => rewrapBatch(trx, keys, from))
      after = batch.lastId
      total.rewrapped += batch.rewrapped
      if (after !== undefined) onBatch(total.rewrapped)
    }
  }
  return total
}

interface Position {
  column: SecretColumn
  after: string
  closed: RewrapResult['closed']
}

async function rewrapBatch(
  trx: Transaction<Schema>,
  keys: SealingKeys,
  { column: { table, column, keyId, at }, after, closed }: Position,
) {
  const [secretColumn, keyIdColumn] = [sql.ref(column), sql.ref(keyId)]
  const { rows } = await sql<{ id: string; secret: Buffer }>`
    select id, ${secretColumn} as secret from ${sql.table(table)}
    where id > ${after} and ${secretColumn} is not null
      and ${keyIdColumn} is distinct from ${keys[0].id}
    order by id limit ${perBatch} for update`.execute(trx)
  let rewrapped = 0
  for (const { id, secret } of rows) {
    try {
      const wrapped = rewrap(secret, keys, at(id)) ?? secret
      await sql`
        update ${sql.table(table)} set ${secretColumn} = ${wrapped}, ${keyIdColumn} = ${keys[0].id}
        where id = ${id}`.execute(trx)
      rewrapped += 1
    } catch (thrown) {
      closed.push({ id, why: thrown instanceof Error ? thrown.message : String(thrown) })
    }
  }
  return { lastId: rows.at(-1)?.id, rewrapped }
}
