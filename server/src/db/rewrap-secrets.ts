import type { Kysely, Transaction } from 'kysely'
import type { Schema } from './schema'
import { rewrap, secretPlaces, type SealingKeys } from './sealed'

const perBatch = 100

type Place = (typeof secretPlaces)[number]

/** What became of the secrets that were not under the first key. */
export interface Rewrapped {
  rewrapped: number
  /** Those that do not open: id of the row, and why. */
  closed: { id: string; why: string }[]
}

/**
 * Has every stored secret wrapped by the first of `keys`, a batch a transaction: however it is
 * interrupted, each secret opens, and the next run does the rest. What was meanwhile replaced is
 * left as it is.
 */
export async function rewrapSecrets(
  db: Kysely<Schema>,
  keys: SealingKeys,
  onBatch: (done: number) => void = () => undefined,
): Promise<Rewrapped> {
  const total: Rewrapped = { rewrapped: 0, closed: [] }
  for (const place of secretPlaces) {
    let after: string | undefined = ''
    while (after !== undefined) {
      const from: Position = { place, after, closed: total.closed }
      const batch = await db.transaction().execute((trx) => rewrapBatch(trx, keys, from))
      after = batch.lastId
      total.rewrapped += batch.rewrapped
      if (after !== undefined) onBatch(total.rewrapped)
    }
  }
  return total
}

interface Position {
  place: Place
  after: string
  closed: Rewrapped['closed']
}

async function rewrapBatch(
  trx: Transaction<Schema>,
  keys: SealingKeys,
  { place: { table, at }, after, closed }: Position,
) {
  const rows = await trx
    .selectFrom(table)
    .select(['id', 'secret', 'secret_key_id'])
    .where('id', '>', after)
    .where('secret', 'is not', null)
    .where('secret_key_id', 'is distinct from', keys[0].id)
    .orderBy('id')
    .limit(perBatch)
    .forUpdate()
    .execute()
  let rewrapped = 0
  for (const { id, secret } of rows) {
    try {
      if (!secret) continue
      const wrapped = rewrap(secret, keys, at(id)) ?? secret
      await trx
        .updateTable(table)
        .set({ secret: wrapped, secret_key_id: keys[0].id })
        .where('id', '=', id)
        .execute()
      rewrapped += 1
    } catch (thrown) {
      closed.push({ id, why: thrown instanceof Error ? thrown.message : String(thrown) })
    }
  }
  return { lastId: rows.at(-1)?.id, rewrapped }
}
