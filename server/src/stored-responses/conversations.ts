import { sql, type Kysely } from 'kysely'
import { Additions } from './additions'
import { append, isStored, refuseFull, sumOf, type ConversationTurn } from './conversation-append'
import type { ConversationItem } from './conversation-item'
import { possibleId } from './store'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import type { JsonObject } from '../wire/json-body'

export interface Conversation {
  id: string
  metadata: JsonObject
  createdAt: Date
}

/** The storage limit of an account: beyond it the least recently used conversations are evicted. */
const maxAccountBytes = 256 * 1024 * 1024
const maxConversations = 10_000

export interface ItemPage {
  limit: number
  order: 'asc' | 'desc'
  /** The id of an item; the page begins after it. */
  after?: string | undefined
}

/** The pauses before further tries to store a turn. */
const pausesMs = [200, 1000, 5000]

/** Stores the conversations of accounts; every query names the account. */
export class StoredConversations {
  readonly #db: Kysely<Schema>
  readonly #onError: (error: unknown) => void
  readonly #additions = new Additions()
  /** Turns that are being written, by conversation. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(db: Kysely<Schema>, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  /** Creates a conversation. Rejects with `invalid_request` for more items than one may hold. */
  async create(
    userId: string,
    { metadata, items }: { metadata: JsonObject; items: readonly JsonObject[] },
  ): Promise<Conversation> {
    const id = newId('conv')
    const text = JSON.stringify(metadata)
    const row = { id, user_id: userId, metadata: text }
    const createdAt = await this.#db.transaction().execute(async (trx) => {
      const inserted = await trx
        .insertInto('conversation')
        .values(row)
        .returning('created_at')
        .executeTakeFirstOrThrow()
      if (items.length > 0) await append(trx, { userId, conversationId: id, items })
      return inserted.created_at
    })
    await this.#evictOldest(userId, Buffer.byteLength(JSON.stringify(items)))
    return { id, metadata, createdAt }
  }

  /** Finds a conversation. Undefined where the account has none of this id, as in all methods below. */
  async find(userId: string, id: string): Promise<Conversation | undefined> {
    if (!possibleId.test(id)) return undefined
    const row = await this.#db
      .selectFrom('conversation')
      .select(['id', 'metadata', 'created_at'])
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return row && toConversation(row)
  }

  async update(
    userId: string,
    id: string,
    metadata: JsonObject,
  ): Promise<Conversation | undefined> {
    if (!possibleId.test(id)) return undefined
    const row = await this.#db
      .updateTable('conversation')
      .set({ metadata: JSON.stringify(metadata), used_at: sql`now()` })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning(['id', 'metadata', 'created_at'])
      .executeTakeFirst()
    return row && toConversation(row)
  }

  /** Deletes a conversation with all of its items. Returns whether it existed. */
  async delete(userId: string, id: string): Promise<boolean> {
    if (!possibleId.test(id)) return false
    const { numDeletedRows } = await this.#db
      .deleteFrom('conversation')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return numDeletedRows > 0n
  }

  /** Appends items. Rejects with `invalid_request` where they exceed the limit. */
  async add(
    userId: string,
    id: string,
    items: readonly JsonObject[],
  ): Promise<ConversationItem[] | undefined> {
    if (!possibleId.test(id)) return undefined
    await this.#writing.get(id)
    const adding = { userId, conversationId: id, items }
    const added = await this.#db.transaction().execute((trx) => append(trx, adding))
    if (added) await this.#evictOldest(userId, sumOf(added))
    return added?.map(({ id: itemId }, at) => ({ id: itemId, item: items[at] ?? {} }))
  }

  async list(
    userId: string,
    id: string,
    { limit, order, after }: ItemPage,
  ): Promise<{ items: ConversationItem[]; hasMore: boolean } | undefined> {
    if (!(await this.find(userId, id))) return undefined
    await this.#writing.get(id)
    const behind = order === 'asc' ? sql`>` : sql`<`
    const from =
      after === undefined
        ? sql``
        : sql`and position ${behind} (
            select position from conversation_item
            where conversation_id = ${id} and user_id = ${userId} and id = ${after}
          )`
    const { rows } = await sql<{ id: string; item: string }>`
      select id, item from conversation_item
      where conversation_id = ${id} and user_id = ${userId} ${from}
      order by position ${order === 'asc' ? sql`asc` : sql`desc`} limit ${limit + 1}`.execute(
      this.#db,
    )
    return { items: rows.slice(0, limit).map(toItem), hasMore: rows.length > limit }
  }

  async item(userId: string, id: string, itemId: string): Promise<ConversationItem | undefined> {
    if (!possibleId.test(id) || !possibleId.test(itemId)) return undefined
    await this.#writing.get(id)
    const row = await this.#db
      .selectFrom('conversation_item')
      .select(['id', 'item'])
      .where('conversation_id', '=', id)
      .where('user_id', '=', userId)
      .where('id', '=', itemId)
      .executeTakeFirst()
    return row && toItem(row)
  }

  /** Deletes an item and returns its conversation; undefined for an unknown item, too. */
  async deleteItem(userId: string, id: string, itemId: string): Promise<Conversation | undefined> {
    if (!possibleId.test(id) || !possibleId.test(itemId)) return undefined
    await this.#writing.get(id)
    const { rows } = await sql<{ id: string; metadata: string; created_at: Date }>`
      with deleted as (
        delete from conversation_item
        where conversation_id = ${id} and user_id = ${userId} and id = ${itemId}
        returning bytes
      )
      update conversation set items = items - 1, bytes = conversation.bytes - deleted.bytes,
        used_at = now()
      from deleted
      where conversation.id = ${id} and conversation.user_id = ${userId}
      returning conversation.id, metadata, created_at`.execute(this.#db)
    const [row] = rows
    return row && toConversation(row)
  }

  /** Returns the length of all items in bytes; 0 where the account has no such conversation. */
  async bytes(userId: string, id: string): Promise<number> {
    if (!possibleId.test(id)) return 0
    await this.#writing.get(id)
    const conversation = await this.#db
      .selectFrom('conversation')
      .select('bytes')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return Number(conversation?.bytes ?? 0)
  }

  /**
   * Reads all items in their order, for a request that adds `moreBytes`. Rejects with `invalid_request` where both
   * together exceed the limit.
   */
  async history(userId: string, id: string, moreBytes: number): Promise<JsonObject[] | undefined> {
    if (!possibleId.test(id)) return undefined
    await this.#writing.get(id)
    const conversation = await this.#db
      .updateTable('conversation')
      .set({ used_at: sql`now()` })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning(['items', 'bytes'])
      .executeTakeFirst()
    if (!conversation) return undefined
    const { items, bytes } = conversation
    refuseFull('conversation', { items: items + 1, bytes: Number(bytes) + moreBytes })
    const rows = await this.#db
      .selectFrom('conversation_item')
      .select(['id', 'item'])
      .where('conversation_id', '=', id)
      .where('user_id', '=', userId)
      .orderBy('position')
      .execute()
    return rows.map((row) => toItem(row).item)
  }

  /**
   * Stores a turn's input and output, unless the conversation was deleted. Resolves once it is stored, or given
   * up; never rejects. Requests for the conversation to this node wait for it.
   */
  store(turn: ConversationTurn): Promise<void> {
    const { conversationId: id } = turn
    const before = this.#writing.get(id) ?? Promise.resolve()
    const writing = before
      .then(() => this.#store(turn))
      .finally(() => {
        if (this.#writing.get(id) === writing) this.#writing.delete(id)
      })
    this.#writing.set(id, writing)
    return writing
  }

  async #store(turn: ConversationTurn): Promise<void> {
    for (const [attempt, pauseMs] of [0, ...pausesMs].entries()) {
      await Bun.sleep(pauseMs)
      try {
        const added = await this.#db.transaction().execute(async (trx) => {
          if (attempt > 0 && (await isStored(trx, turn))) return undefined
          return append(trx, turn)
        })
        if (added) await this.#evictOldest(turn.userId, sumOf(added))
        return
      } catch (thrown) {
        this.#onError(thrown)
      }
    }
  }

  async #evictOldest(userId: string, bytes: number): Promise<void> {
    if (!this.#additions.isEvictionDue(userId, bytes)) return
    await sql`
      delete from conversation where user_id = ${userId} and id in (
        select id from (
          select id, sum(bytes) over latest as total, row_number() over latest as place
          from conversation where user_id = ${userId}
          window latest as (order by used_at desc, id desc)
        ) as summed
        where total > ${maxAccountBytes} or place > ${maxConversations}
      )`.execute(this.#db)
  }

  /** Waits for pending writes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writing.values())
  }
}

const toItem = ({ id, item }: { id: string; item: string }): ConversationItem => ({
  id,
  item: JSON.parse(item),
})

const toConversation = (row: { id: string; metadata: string; created_at: Date }): Conversation => ({
  id: row.id,
  metadata: JSON.parse(row.metadata),
  createdAt: row.created_at,
})
