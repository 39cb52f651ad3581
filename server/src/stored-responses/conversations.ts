import { sql, type Kysely } from 'kysely'
import { Additions } from './additions'
import { append, isStored, refuseFull, type ConversationTurn } from './conversation-append'
import type { ConversationItem } from './conversation-item'
import { readAll, readPage, type History, type ItemPage } from './conversation-reading'
import { possibleId } from './item-ids'
import { parseObjects } from './stored-json'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import type { JsonObject } from '../wire/json-body'
import { answerShape } from '../wire/json-shape'
import { yieldToLoop, type Pause } from '../wire/json-slices'

export interface Conversation {
  id: string
  metadata: JsonObject
  createdAt: Date
}

/** Beyond this number the least recently used conversations of an account are evicted. */
const maxConversations = 10_000

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
    await this.#evictOldest(userId)
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
    return added?.map(({ id: itemId }, at) => ({ id: itemId, item: items[at] ?? {} }))
  }

  /** Lists items; `pause` is that of `parseStored`, as in `item` and `history`. */
  async list(
    { userId, id }: { userId: string; id: string },
    page: ItemPage,
    pause: Pause = yieldToLoop,
  ): Promise<{ items: ConversationItem[]; hasMore: boolean } | undefined> {
    if (!(await this.find(userId, id))) return undefined
    await this.#writing.get(id)
    return readPage(this.#db, { userId, id, page }, pause)
  }

  async item(
    { userId, id }: { userId: string; id: string },
    itemId: string,
    pause: Pause = yieldToLoop,
  ): Promise<ConversationItem | undefined> {
    if (!possibleId.test(id) || !possibleId.test(itemId)) return undefined
    await this.#writing.get(id)
    const row = await this.#db
      .selectFrom('conversation_item')
      .select(['id', 'item'])
      .where('conversation_id', '=', id)
      .where('user_id', '=', userId)
      .where('id', '=', itemId)
      .executeTakeFirst()
    if (!row) return undefined
    const [item = {}] = await parseObjects([row.item], answerShape, pause)
    return { id: row.id, item }
  }

  /** Deletes an item and returns its conversation; undefined for an unknown item, too. */
  async deleteItem(userId: string, id: string, itemId: string): Promise<Conversation | undefined> {
    if (!possibleId.test(id) || !possibleId.test(itemId)) return undefined
    await this.#writing.get(id)
    const { rows } = await sql<{ id: string; metadata: string; created_at: Date }>`
      with owner as (
        -- Locked before its items, as by its deletion.
        select id from conversation where id = ${id} and user_id = ${userId} for update
      ), deleted as (
        delete from conversation_item using owner
        where conversation_id = owner.id and user_id = ${userId}
          and conversation_item.id = ${itemId}
        returning bytes, nodes
      )
      update conversation set items = items - 1, bytes = conversation.bytes - deleted.bytes,
        nodes = conversation.nodes - deleted.nodes, used_at = now()
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
  async history(
    { userId, id }: { userId: string; id: string },
    moreBytes: number,
    pause: Pause = yieldToLoop,
  ): Promise<History | undefined> {
    if (!possibleId.test(id)) return undefined
    await this.#writing.get(id)
    const conversation = await this.#db
      .updateTable('conversation')
      .set({ used_at: sql`now()` })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning(['items', 'bytes', 'nodes'])
      .executeTakeFirst()
    if (!conversation) return undefined
    const bytes = Number(conversation.bytes)
    refuseFull('conversation', {
      items: conversation.items + 1,
      bytes: bytes + moreBytes,
      nodes: Number(conversation.nodes),
    })
    return { items: await readAll(this.#db, { userId, id }, pause), bytes }
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
        await this.#db.transaction().execute(async (trx) => {
          if (attempt > 0 && (await isStored(trx, turn))) return
          await append(trx, turn)
        })
        return
      } catch (thrown) {
        this.#onError(thrown)
      }
    }
  }

  async #evictOldest(userId: string): Promise<void> {
    if (!this.#additions.isEvictionDue(userId)) return
    await sql`
      delete from conversation where user_id = ${userId} and id in (
        select id from (
          select id, row_number() over (order by used_at desc, id desc) as place
          from conversation where user_id = ${userId}
        ) as numbered
        where place > ${maxConversations}
      )`.execute(this.#db)
  }

  /** Waits for pending writes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writing.values())
  }
}

const toConversation = (row: { id: string; metadata: string; created_at: Date }): Conversation => ({
  id: row.id,
  metadata: JSON.parse(row.metadata),
  createdAt: row.created_at,
})
