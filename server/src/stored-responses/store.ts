import { sql, type Kysely } from 'kysely'
import { nameInputs, possibleId, providerItemIds, responseOf } from './item-ids'
import { countItemBytes, findItems, type ItemLookup, type StoredItems } from './item-lookup'
import { getIdTime } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { parseStored } from './stored-json'
import { isObject, type JsonObject, toObjects } from '../wire/json-body'
import { answerShape, ShapeExceeded } from '../wire/json-shape'
import { yieldToLoop, type Pause } from '../wire/json-slices'

/** A response, and the input of its request. */
export interface StoredResponse {
  id: string
  userId: string
  previousId: string | null
  /** The request's own input, without the history that it continues. */
  input: readonly JsonObject[]
  response: JsonObject
}

/** A larger response is not stored. */
export const maxBytes = 8 * 1024 * 1024
/** The limit of pending writes. */
const maxPendingBytes = 64 * 1024 * 1024
/** The most responses of a history. */
const maxChain = 1000
export const maxChainBytes = 24 * 1024 * 1024

/** Another node may still be writing a response that is younger than this. */
const freshMs = 5000
const maxFreshAttempts = 4
const retryPauseMs = 150

/** The entry of an item in the index, beside its id. */
const itemEntryBytes = 64

interface Row {
  id: string
  user_id: string
  previous_id: string | null
  input: string
  response: string
}

interface PendingResponse extends StoredResponse {
  /** Of its items, where a provider made them. */
  itemIds: readonly string[]
  writing: Promise<void>
}

/**
 * Stores responses for their accounts. A saved response is found on this node at once, even before it is in the
 * database; every query names the account.
 */
export class ResponseStore {
  readonly #db: Kysely<Schema>
  readonly #onError: (error: unknown) => void
  readonly #pending = new Map<string, PendingResponse>()
  readonly #writing = new Set<Promise<void>>()
  #pendingBytes = 0

  constructor(db: Kysely<Schema>, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  /** Queues a response for storing. Returns whether it is stored. Never throws. */
  save(stored: StoredResponse): boolean {
    const { id } = stored
    const input = JSON.stringify(stored.input)
    const response = JSON.stringify(stored.response)
    const itemIds = providerItemIds(stored.response)
    const bytes = Buffer.byteLength(input) + Buffer.byteLength(response) + indexBytes(itemIds)
    if (bytes > maxBytes || this.#pendingBytes + bytes > maxPendingBytes) return false
    this.#pendingBytes += bytes
    const row = {
      id,
      user_id: stored.userId,
      previous_id: stored.previousId,
      input,
      response,
      bytes,
      item_ids: itemIds.length > 0 ? itemIds : null,
    }
    const writing = this.#write(row)
      .catch(this.#onError)
      .finally(() => {
        this.#pendingBytes -= bytes
        this.#pending.delete(id)
        this.#writing.delete(writing)
      })
    this.#writing.add(writing)
    this.#pending.set(id, { ...stored, itemIds, writing })
    return true
  }

  /** Resolves once a response is written whose items other nodes find by their ids alone; else undefined. */
  writeOf(id: string): Promise<void> | undefined {
    const pending = this.#pending.get(id)
    return pending && pending.itemIds.length > 0 ? pending.writing : undefined
  }

  async #write(row: Row & { bytes: number; item_ids: string[] | null }): Promise<void> {
    await this.#db
      .insertInto('stored_response')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }

  /** Undefined where the account has no such response. `pause` is that of `parseStored`, as in `chain`. */
  async find(
    userId: string,
    id: string,
    pause: Pause = yieldToLoop,
  ): Promise<StoredResponse | undefined> {
    const [response] = await this.#chain({ userId, id, maxLength: 1 }, pause)
    return response
  }

  /**
   * Returns a response with its history, oldest first; undefined where the account lacks a part of it, or where it
   * exceeds the limit of a request.
   */
  async chain(
    userId: string,
    id: string,
    pause: Pause = yieldToLoop,
  ): Promise<StoredResponse[] | undefined> {
    const maxAttempts = isFresh(id) ? maxFreshAttempts : 1
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const reading = this.#chain({ userId, id, maxLength: maxChain }, pause)
      const responses = await reading.catch(emptyIfTooLarge)
      if (responses.length > 0)
        return responses.at(-1)?.previousId === null ? responses.toReversed() : undefined
      if (attempt < maxAttempts) await Bun.sleep(retryPauseMs)
    }
    return undefined
  }

  /**
   * Returns how many bytes `chain` reads from the database, within its limits. Pending ones are in memory already.
   */
  async chainBytes(userId: string, id: string): Promise<number> {
    const { unread } = this.#pendingChain(userId, id, maxChain)
    if (unread === null) return 0
    const { rows } = await sql<{ total: string | null }>`
      ${chainOf(userId, unread, maxChain)} select max(total) as total from chain`.execute(this.#db)
    return Number(rows[0]?.total ?? 0)
  }

  /**
   * Returns the responses of an account that have these items, the oldest first; none where they exceed the limit of a
   * request. Rejects with `ShapeExceeded`.
   */
  async responsesWith(
    userId: string,
    itemIds: readonly string[],
    pause: Pause,
  ): Promise<StoredItems[]> {
    const query = toQuery(userId, itemIds)
    const fresh = query.responseIds.filter(isFresh)
    const maxAttempts = fresh.length > 0 ? maxFreshAttempts : 1
    for (let attempt = 1; ; attempt++) {
      const pending = this.#pendingWith(query)
      const reading = findItems(this.#db, query, { maxBytes: maxChainBytes, pause })
      const foundItems = [...(await reading), ...pending]
      const knownIds = new Set(foundItems.map(({ id }) => id))
      const isWhole = fresh.every((id) => knownIds.has(id))
      if (isWhole || attempt === maxAttempts) return foundItems
      await Bun.sleep(retryPauseMs)
    }
  }

  /** Returns how many bytes `responsesWith` reads from the database. */
  itemBytes(userId: string, itemIds: readonly string[]): Promise<number> {
    return countItemBytes(this.#db, toQuery(userId, itemIds))
  }

  #pendingWith({ userId, responseIds, itemIds }: ItemLookup): StoredItems[] {
    const [namedIds, items] = [new Set(responseIds), new Set(itemIds)]
    return [...this.#pending.values()]
      .filter(
        (one) =>
          one.userId === userId &&
          (namedIds.has(one.id) || one.itemIds.some((id) => items.has(id))),
      )
      .map(({ id, input, response }) => ({ id, input, output: toObjects(response['output']) }))
  }

  /** Returns the pending part, latest first, and the id of the response before it. */
  #pendingChain(userId: string, id: string, maxLength: number) {
    const responses: StoredResponse[] = []
    let unread: string | null = possibleId.test(id) ? id : null
    while (unread !== null && responses.length < maxLength) {
      const pending = this.#pending.get(unread)
      if (pending?.userId !== userId) break
      responses.push(pending)
      unread = pending.previousId
    }
    return { responses, unread: responses.length < maxLength ? unread : null }
  }

  /** Returns the history, latest first. */
  async #chain(
    { userId, id, maxLength }: { userId: string; id: string; maxLength: number },
    pause: Pause,
  ): Promise<StoredResponse[]> {
    const { responses, unread } = this.#pendingChain(userId, id, maxLength)
    if (unread === null) return responses
    const { rows } = await sql<Row>`
      ${chainOf(userId, unread, maxLength - responses.length)}
      select id, user_id, stored_response.previous_id, input, response
      from chain join stored_response using (id) order by position`.execute(this.#db)
    return [...responses, ...(await toStored(rows, pause))]
  }

  /** Deletes a response. Returns whether it existed. */
  async delete(userId: string, id: string): Promise<boolean> {
    if (!possibleId.test(id)) return false
    // A pending write would restore it.
    if (this.#pending.get(id)?.userId === userId) await Promise.all(this.#writing)
    const { numDeletedRows } = await this.#db
      .deleteFrom('stored_response')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return numDeletedRows > 0n
  }

  /** Waits for pending writes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writing)
  }
}

/** The bytes of an index entry for each item. */
export const indexBytes = (itemIds: readonly string[]) =>
  itemIds.reduce((bytes, id) => bytes + id.length + itemEntryBytes, 0)

function toQuery(userId: string, itemIds: readonly string[]): ItemLookup {
  const responseIds = itemIds.flatMap((id) => responseOf(id) ?? [])
  return {
    userId,
    itemIds,
    responseIds: [...new Set(responseIds)],
    withInput: nameInputs(itemIds),
  }
}

/** Selects a response of an account and those before it, without their texts. */
const chainOf = (userId: string, id: string, maxLength: number) => sql`
  with recursive chain as (
    select id, previous_id, bytes::bigint as total, 1 as position
    from stored_response where id = ${id} and user_id = ${userId}
    union all
    select earlier.id, earlier.previous_id, chain.total + earlier.bytes, chain.position + 1
    from chain join stored_response as earlier
      on earlier.id = chain.previous_id and earlier.user_id = ${userId}
    where chain.position < ${maxLength} and chain.total < ${maxChainBytes}
  )`

/** Parses rows together, so that their objects are counted together. Rejects with `ShapeExceeded`. */
async function toStored(rows: readonly Row[], pause: Pause): Promise<StoredResponse[]> {
  const texts = rows.flatMap(({ input, response }) => [input, response])
  const values = await parseStored(texts, answerShape, pause)
  return rows.map(({ id, user_id: userId, previous_id: previousId }, at) => {
    const [input, response] = values.slice(2 * at)
    return {
      id,
      userId,
      previousId,
      input: toObjects(input),
      response: isObject(response) ? response : {},
    }
  })
}

/** Returns no history where it has more objects than a request may hold. */
function emptyIfTooLarge(thrown: unknown): StoredResponse[] {
  if (thrown instanceof ShapeExceeded) return []
  throw thrown
}

function isFresh(id: string): boolean {
  return Math.abs(Date.now() - getIdTime(id)) < freshMs
}
