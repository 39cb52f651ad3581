import { sql, type Transaction } from 'kysely'
import { toNewItem, type NewItem } from './conversation-item'
import { possibleId } from './item-ids'
import { maxChainBytes } from './store'
import { historyShape } from './stored-json'
import type { Schema } from '../platform/db/schema'
import { invalidRequest } from '../errors'
import type { JsonObject } from '../wire/json-body'

/** The limit of a conversation, so that a request can hold all of it. */
const maxItems = 10_000
const maxBytes = maxChainBytes
const { maxNodes } = historyShape

/** The items that a request adds to a conversation once it is answered. */
export interface ConversationTurn {
  userId: string
  conversationId: string
  responseId: string
  items: readonly JsonObject[]
}

/** Throws `invalid_request` where the total exceeds the limit of a conversation. */
export function refuseFull(
  param: string,
  { items, bytes, nodes }: { items: number; bytes: number; nodes: number },
): void {
  if (items > maxItems || bytes > maxBytes || nodes > maxNodes) throw fullConversation(param)
}

export const fullConversation = (param: string) =>
  invalidRequest(
    param,
    'limit_reached',
    `${param}: a conversation can have at most ${maxItems} items, ${maxBytes / 1024 / 1024} MB, and ${maxNodes} objects, lists and names. Create a new one.`,
  )

type Adding = Omit<ConversationTurn, 'responseId'> & { responseId?: string }

/**
 * Appends items to a conversation, all or none; a concurrent request waits for the row lock. The items of a
 * response exist already, so they always have room. Undefined for an unknown conversation.
 */
export async function append(
  trx: Transaction<Schema>,
  adding: Adding,
): Promise<NewItem[] | undefined> {
  const { userId, conversationId, responseId = null } = adding
  const row = await trx
    .selectFrom('conversation')
    .select(['next_position', 'items', 'bytes', 'nodes'])
    .where('id', '=', conversationId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return undefined
  const added = await withIds(trx, adding)
  const sums = sumsOf(added)
  const bytes = Number(row.bytes) + sums.bytes
  const nodes = Number(row.nodes) + sums.nodes
  const count = row.items + added.length
  if (responseId === null) refuseFull('items', { items: count, bytes, nodes })
  await trx
    .updateTable('conversation')
    .set({
      next_position: String(Number(row.next_position) + added.length),
      items: count,
      bytes: String(bytes),
      nodes: String(nodes),
      used_at: sql`now()`,
    })
    .where('id', '=', conversationId)
    .where('user_id', '=', userId)
    .execute()
  if (added.length === 0) return added
  await sql`
    insert into conversation_item
      (conversation_id, id, user_id, position, response_id, item, bytes, nodes)
    select ${conversationId}, item.id, ${userId},
      ${row.next_position}::bigint + item.place - 1, ${responseId}, item.text, item.bytes,
      item.nodes
    from unnest(
      ${added.map(({ id }) => id)}::text[], ${added.map(({ text }) => text)}::text[],
      ${added.map((item) => item.bytes)}::int[],
      ${added.map((item) => item.nodes)}::int[]
    ) with ordinality as item (id, text, bytes, nodes, place)`.execute(trx)
  return added
}

/** Returns the items with ids that are unique in their conversation. */
async function withIds(
  trx: Transaction<Schema>,
  { userId, conversationId, items }: Adding,
): Promise<NewItem[]> {
  const requestedIds = items.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
  const { rows } = await sql<{ id: string }>`
    select id from conversation_item
    where conversation_id = ${conversationId} and user_id = ${userId}
      and id = any(${requestedIds.filter((id) => possibleId.test(id))}::text[])`.execute(trx)
  const usedIds = new Set(rows.map(({ id }) => id))
  return items.map((item) => {
    const added = toNewItem(item, (id) => usedIds.has(id))
    usedIds.add(added.id)
    return added
  })
}

/** Whether an earlier try was committed although its result was lost. */
export async function isStored(trx: Transaction<Schema>, turn: ConversationTurn): Promise<boolean> {
  const row = await trx
    .selectFrom('conversation_item')
    .select('id')
    .where('conversation_id', '=', turn.conversationId)
    .where('user_id', '=', turn.userId)
    .where('response_id', '=', turn.responseId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

const sumsOf = (items: readonly NewItem[]) => ({
  bytes: items.reduce((sum, { bytes }) => sum + bytes, 0),
  nodes: items.reduce((sum, { nodes }) => sum + nodes, 0),
})
