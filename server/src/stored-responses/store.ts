import { sql, type Kysely } from 'kysely'
import { Additions } from './additions'
import { timeOfId } from '../db/id'
import type { Schema } from '../db/schema'
import { isObject, maxAtOnce, type JsonObject } from '../wire/json-body'
import { answerShape, ShapeExceeded } from '../wire/json-shape'
import { parseInSlices } from '../wire/json-slices'

/** One answer, and what was asked for it. */
export interface StoredResponse {
  id: string
  userId: string
  previousId: string | null
  /** Its own input, without what it goes on from. */
  input: readonly JsonObject[]
  response: JsonObject
}

/** What an account may keep: more takes the place of its oldest answers. */
const maxAccountBytes = 256 * 1024 * 1024
/** A longer answer is not kept. */
export const maxBytes = 8 * 1024 * 1024
/** What is on its way to the database. */
const maxPendingBytes = 64 * 1024 * 1024
/** What a request may go on from. */
const maxChain = 1000
export const maxChainBytes = 24 * 1024 * 1024

/** Another node may still be writing an answer that is as young as this. */
const freshMs = 5000
const triesForFresh = 4
const betweenTriesMs = 150

/** What an id can be: nothing else is looked up, and none has what PostgreSQL refuses. */
export const possibleId = /^[\w-]{1,128}$/

interface Row {
  id: string
  user_id: string
  previous_id: string | null
  input: string
  response: string
}

/**
 * Keeps answers for the accounts that asked. What was saved here is found here at once, though the database
 * may not have it yet; every question names the account.
 */
export class ResponseStore {
  readonly #db: Kysely<Schema>
  readonly #onError: (error: unknown) => void
  readonly #pending = new Map<string, StoredResponse & { bytes: number }>()
  readonly #additions = new Additions()
  readonly #writing = new Set<Promise<void>>()
  #pendingBytes = 0

  constructor(db: Kysely<Schema>, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  /** Returns whether it is kept. Never throws. */
  save(stored: StoredResponse): boolean {
    const { id } = stored
    const input = JSON.stringify(stored.input)
    const response = JSON.stringify(stored.response)
    const bytes = Buffer.byteLength(input) + Buffer.byteLength(response)
    if (bytes > maxBytes || this.#pendingBytes + bytes > maxPendingBytes) return false
    this.#pendingBytes += bytes
    this.#pending.set(id, { ...stored, bytes })
    const row = {
      id,
      user_id: stored.userId,
      previous_id: stored.previousId,
      input,
      response,
      bytes,
    }
    const writing = this.#write(row)
      .catch(this.#onError)
      .finally(() => {
        this.#pendingBytes -= bytes
        this.#pending.delete(id)
        this.#writing.delete(writing)
      })
    this.#writing.add(writing)
    return true
  }

  async #write(row: Row & { bytes: number }): Promise<void> {
    await this.#db
      .insertInto('stored_response')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await this.makeRoom(row.user_id, row.bytes)
  }

  /** An account has added so much: deletes its oldest answers beyond what it may keep, now and then. */
  async makeRoom(userId: string, bytes: number): Promise<void> {
    if (!this.#additions.isEvictionDue(userId, bytes)) return
    await sql`
      delete from stored_response where user_id = ${userId} and id in (
        select id from (
          select id, sum(bytes + event_bytes) over (order by created_at desc, id desc) as total
          from stored_response where user_id = ${userId} and running_until is null
        ) as summed
        where total > ${maxAccountBytes}
      )`.execute(this.#db)
  }

  /** Undefined where the account has no such answer. */
  async find(userId: string, id: string): Promise<StoredResponse | undefined> {
    const [found] = await this.#chain(userId, id, 1)
    return found
  }

  /**
   * An answer with all that it goes on from, the oldest first; undefined where the account does not have all of
   * them, or they are more than a request may hold.
   */
  async chain(userId: string, id: string): Promise<StoredResponse[] | undefined> {
    const tries = isFresh(id) ? triesForFresh : 1
    for (let attempt = 1; attempt <= tries; attempt++) {
      const found = await this.#chain(userId, id, maxChain).catch(noneBeyondShape)
      if (found.length > 0)
        return found.at(-1)?.previousId === null ? found.toReversed() : undefined
      if (attempt < tries) await Bun.sleep(betweenTriesMs)
    }
    return undefined
  }

  /**
   * How many bytes `chain` reads from the database, within the bounds of one. Those that are not there yet are in
   * memory already.
   */
  async chainBytes(userId: string, id: string): Promise<number> {
    const { unread } = this.#pendingChain(userId, id, maxChain)
    if (unread === null) return 0
    const { rows } = await sql<{ total: string | null }>`
      ${chainOf(userId, unread, maxChain)} select max(total) as total from chain`.execute(this.#db)
    return Number(rows[0]?.total ?? 0)
  }

  /** The latest first, as far as they are on their way, and the id of the one before them. */
  #pendingChain(userId: string, id: string, maxLength: number) {
    const found: StoredResponse[] = []
    let unread: string | null = possibleId.test(id) ? id : null
    while (unread !== null && found.length < maxLength) {
      const pending = this.#pending.get(unread)
      if (pending?.userId !== userId) break
      found.push(pending)
      unread = pending.previousId
    }
    return { found, unread: found.length < maxLength ? unread : null }
  }

  /** The latest first. */
  async #chain(userId: string, id: string, maxLength: number): Promise<StoredResponse[]> {
    const { found, unread } = this.#pendingChain(userId, id, maxLength)
    if (unread === null) return found
    const { rows } = await sql<Row>`
      ${chainOf(userId, unread, maxLength - found.length)}
      select id, user_id, stored_response.previous_id, input, response
      from chain join stored_response using (id) order by position`.execute(this.#db)
    return [...found, ...(await toStored(rows))]
  }

  /** Returns whether there was one. */
  async delete(userId: string, id: string): Promise<boolean> {
    if (!possibleId.test(id)) return false
    // It would come back.
    if (this.#pending.get(id)?.userId === userId) await Promise.all(this.#writing)
    const { numDeletedRows } = await this.#db
      .deleteFrom('stored_response')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return numDeletedRows > 0n
  }

  /** Waits for what is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writing)
  }
}

/** An answer of an account and those before it, without their texts. */
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

/**
 * Parsed together, so that what they hold is counted together before it is built; others have their turn
 * meanwhile. Rejects with `ShapeExceeded`.
 */
async function toStored(rows: readonly Row[]): Promise<StoredResponse[]> {
  const text = `[${rows.map(({ input, response }) => `${input},${response}`).join()}]`
  const isShort = text.length <= maxAtOnce
  const parsed: unknown = isShort
    ? JSON.parse(text)
    : await parseInSlices(text, answerShape, nextTurn)
  const parts: unknown[] = Array.isArray(parsed) ? parsed : []
  return rows.map(({ id, user_id: userId, previous_id: previousId }, at) => {
    const [input, response] = parts.slice(2 * at)
    return {
      id,
      userId,
      previousId,
      input: Array.isArray(input) ? input.filter(isObject) : [],
      response: isObject(response) ? response : {},
    }
  })
}

/** More objects than any answer has are more than a request may hold. */
function noneBeyondShape(thrown: unknown): StoredResponse[] {
  if (thrown instanceof ShapeExceeded) return []
  throw thrown
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve))

function isFresh(id: string): boolean {
  return Math.abs(Date.now() - timeOfId(id)) < freshMs
}
