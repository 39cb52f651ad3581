import { sql, type Kysely } from 'kysely'
import { parseStored } from './stored-json'
import type { Schema } from '../platform/db/schema'
import { isObject, type JsonObject, toObjects } from '../wire/json-body'
import { answerShape } from '../wire/json-shape'
import type { Pause } from '../wire/json-slices'

/** A stored response, as far as items of it can be named. */
export interface StoredItems {
  id: string
  /** Empty where the caller did not request it. */
  input: readonly JsonObject[]
  output: readonly JsonObject[]
}

/** Items of an account by their ids, and the responses that ids of Tollgate's own name. */
export interface ItemLookup {
  userId: string
  responseIds: readonly string[]
  itemIds: readonly string[]
  withInput: boolean
}

/** Selects the responses of an account that have one of the items. */
const withItems = ({ userId, responseIds, itemIds }: ItemLookup) => sql`
  from stored_response where user_id = ${userId}
    and (id = any(${responseIds}::text[]) or item_ids && ${itemIds}::text[])`

const textsOf = ({ withInput }: ItemLookup) =>
  withInput ? sql`octet_length(response) + octet_length(input)` : sql`octet_length(response)`

/** Returns how many bytes `findItems` reads. */
export async function countItemBytes(db: Kysely<Schema>, query: ItemLookup): Promise<number> {
  const { rows } = await sql<{ total: string | null }>`
    select sum(${textsOf(query)}) as total ${withItems(query)}`.execute(db)
  return Number(rows[0]?.total ?? 0)
}

/** Finds responses of at most so many bytes together, the oldest first. Rejects with `ShapeExceeded`. */
export async function findItems(
  db: Kysely<Schema>,
  query: ItemLookup,
  { maxBytes, pause }: { maxBytes: number; pause: Pause },
): Promise<StoredItems[]> {
  const { rows } = await sql<{ id: string; response: string; input: string }>`
    select id, response, input from (
      select id, response, ${query.withInput ? sql`input` : sql`'[]'`} as input, created_at,
        sum(${textsOf(query)}) over () as total ${withItems(query)}
    ) as found where total <= ${maxBytes} order by created_at, id`.execute(db)
  const texts = rows.flatMap(({ response, input }) => [response, input])
  const values = await parseStored(texts, answerShape, pause)
  return rows.map(({ id }, at) => {
    const [response, input] = values.slice(2 * at)
    return {
      id,
      input: toObjects(input),
      output: toObjects(isObject(response) ? response['output'] : undefined),
    }
  })
}
