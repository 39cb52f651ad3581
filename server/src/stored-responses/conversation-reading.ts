import { sql, type Kysely } from 'kysely'
import { fullConversation } from './conversation-append'
import type { ConversationItem } from './conversation-item'
import { historyShape, parseObjects } from './stored-json'
import type { Schema } from '../platform/db/schema'
import { invalidRequest } from '../errors'
import type { JsonObject } from '../wire/json-body'
import { ShapeExceeded } from '../wire/json-shape'
import type { Pause } from '../wire/json-slices'

export interface ItemPage {
  limit: number
  order: 'asc' | 'desc'
  /** The id of an item; the page begins after it. */
  after?: string | undefined
}

/** A conversation as a request continues it. */
export interface History {
  items: JsonObject[]
  /** The length of all items. */
  bytes: number
}

interface Owned {
  userId: string
  id: string
}

interface Row {
  id: string
  item: string
}

/** Reads a page of a conversation's items. Rejects with `invalid_request` where they have too much structure. */
export async function readPage(
  db: Kysely<Schema>,
  { userId, id, page }: Owned & { page: ItemPage },
  pause: Pause,
): Promise<{ items: ConversationItem[]; hasMore: boolean }> {
  const { limit, order, after } = page
  const behind = order === 'asc' ? sql`>` : sql`<`
  const from =
    after === undefined
      ? sql``
      : sql`and position ${behind} (
          select position from conversation_item
          where conversation_id = ${id} and user_id = ${userId} and id = ${after}
        )`
  const { rows } = await sql<Row>`
    select id, item from conversation_item
    where conversation_id = ${id} and user_id = ${userId} ${from}
    order by position ${order === 'asc' ? sql`asc` : sql`desc`} limit ${limit + 1}`.execute(db)
  const shownRows = rows.slice(0, limit)
  const items = await readItems(shownRows, { pause, refusal: tooManyListed })
  return { items, hasMore: rows.length > limit }
}

/** Reads all items of a conversation in their order. Rejects with `invalid_request` where they are too many. */
export async function readAll(
  db: Kysely<Schema>,
  { userId, id }: Owned,
  pause: Pause,
): Promise<JsonObject[]> {
  const rows = await db
    .selectFrom('conversation_item')
    .select(['id', 'item'])
    .where('conversation_id', '=', id)
    .where('user_id', '=', userId)
    .orderBy('position')
    .execute()
  const items = await readItems(rows, { pause, refusal: tooLong })
  return items.map(({ item }) => item)
}

interface Reading {
  pause: Pause
  /** Creates the error of a request whose items are more than one may read. */
  refusal: () => Error
}

/** Parses items, which are counted together. Those of earlier versions may be more than a conversation has today. */
async function readItems(
  rows: readonly Row[],
  { pause, refusal }: Reading,
): Promise<ConversationItem[]> {
  const texts = rows.map(({ item }) => item)
  const items = await parseObjects(texts, historyShape, pause).catch((thrown: unknown) => {
    throw thrown instanceof ShapeExceeded ? refusal() : thrown
  })
  return rows.map(({ id }, at) => ({ id, item: items[at] ?? {} }))
}

const tooLong = () => fullConversation('conversation')

const tooManyListed = () =>
  invalidRequest(
    'limit',
    'too_many',
    `limit: these items have more than ${historyShape.maxNodes} objects, lists and names. Read fewer at once, or one by its id.`,
  )
