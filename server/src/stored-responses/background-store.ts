import { sql, type Kysely } from 'kysely'
import { possibleId, providerItemIds } from './item-ids'
import { indexBytes, maxBytes, type StoredResponse } from './store'
import { parseObjects } from './stored-json'
import type { Schema } from '../platform/db/schema'
import { isStorageFull, storageFull } from '../platform/storage-full'
import { ApiError, invalidRequest } from '../errors'
import type { JsonObject } from '../wire/json-body'
import { answerShape } from '../wire/json-shape'
import { yieldToLoop, type Pause } from '../wire/json-slices'
import { namedFrame } from '../wire/sse'

/** A response's id, and its account. */
export interface Owned {
  id: string
  userId: string
}

/** A node that has not renewed its lease for this long counts as dead. */
const leaseSeconds = 30
const maxRunning = 100
/** The retention of a response's events after its end. */
const eventRetention = '1 hour'
const lostPerBatch = 100
const batchesPerRead = 100

const isLate = sql<boolean>`running_until < now()`
const leaseEnd = sql<Date>`now() + make_interval(secs => ${leaseSeconds})`

/** The state of a background response. */
export interface Standing {
  response: JsonObject
  isBackground: boolean
  isRunning: boolean
  storesEvents: boolean
}

interface Events {
  frames: string[]
  isRunning: boolean
}

/** Stores background responses, for all nodes; every query names the account. */
export class BackgroundStore {
  readonly #db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /**
   * Stores the start of a response. Rejects with `rate_limit_exceeded` where too many of the account are running, and with
   * `invalid_request` where it is too large, or the account has no room for it.
   */
  async begin(stored: StoredResponse, storesEvents: boolean): Promise<void> {
    const { id, userId, previousId } = stored
    const input = JSON.stringify(stored.input)
    const response = JSON.stringify(stored.response)
    const bytes = Buffer.byteLength(input) + Buffer.byteLength(response)
    if (bytes > maxBytes) throw tooLarge()
    const beginning = this.#db.transaction().execute(async (trx) => {
      // The lock has concurrent starts count each other.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`background ${userId}`}, 0))`.execute(
        trx,
      )
      const { running } = await trx
        .selectFrom('stored_response')
        .select(sql<number>`count(*)::int`.as('running'))
        .where('user_id', '=', userId)
        .where('running_until', '>', sql<Date>`now()`)
        .executeTakeFirstOrThrow()
      if (running >= maxRunning) throw tooManyResponses()
      const row = { id, user_id: userId, previous_id: previousId, input, response, bytes }
      await trx
        .insertInto('stored_response')
        .values({
          ...row,
          running_until: leaseEnd,
          is_background: true,
          keeps_events: storesEvents,
        })
        .execute()
    })
    await beginning.catch((thrown: unknown) => {
      throw isStorageFull(thrown) ? storageFull(thrown, 'background') : thrown
    })
  }

  /**
   * Renews the leases of running responses. Resolves with those that are to continue: not those that were cancelled or
   * deleted, nor those of an account that is suspended.
   */
  async renew(runs: readonly Owned[]): Promise<Set<string>> {
    const { rows } = await sql<{ id: string }>`
      update stored_response set running_until = ${leaseEnd}
      from unnest(
        ${runs.map(({ id }) => id)}::text[], ${runs.map(({ userId }) => userId)}::text[]
      ) as run (id, user_id)
      where stored_response.id = run.id and stored_response.user_id = run.user_id
        and running_until is not null
        and exists (select from users where users.id = run.user_id and users.status = 'active')
      returning stored_response.id`.execute(this.#db)
    return new Set(rows.map(({ id }) => id))
  }

  /** Stores the current response. Returns whether it is to continue. */
  async update({ id, userId }: Owned, response: JsonObject): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable('stored_response')
      .set({ response: JSON.stringify(response) })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('running_until', 'is not', null)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /** Stores the end, once: false where it was cancelled or deleted meanwhile, or its lease has expired. */
  async end({ id, userId }: Owned, response: JsonObject): Promise<boolean> {
    const text = JSON.stringify(response)
    const itemIds = providerItemIds(response)
    const { numUpdatedRows } = await this.#db
      .updateTable('stored_response')
      .set({
        response: text,
        bytes: sql<number>`octet_length(input) + ${Buffer.byteLength(text) + indexBytes(itemIds)}::int`,
        item_ids: itemIds.length > 0 ? itemIds : null,
        running_until: null,
        ended_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('running_until', 'is not', null)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  /**
   * Appends consecutive events; twice is harmless. Resolves with false where the account has no room for them.
   */
  async addEvents({ id, userId }: Owned, frames: string, sequenceNumber: number): Promise<boolean> {
    const adding = sql`
      with owner as (
        update stored_response set event_bytes = event_bytes + ${Buffer.byteLength(frames)}::int
        where id = ${id} and user_id = ${userId} and keeps_events
          and not exists (
            select from response_event where response_id = ${id} and user_id = ${userId}
              and sequence_number = ${sequenceNumber}
          )
        returning id, user_id
      )
      insert into response_event (response_id, user_id, sequence_number, frames)
      select id, user_id, ${sequenceNumber}, ${frames} from owner
      on conflict do nothing`.execute(this.#db)
    return adding.then(
      () => true,
      (thrown: unknown) => {
        if (isStorageFull(thrown)) return false
        throw thrown
      },
    )
  }

  /**
   * Reads frames of events in batches that end after the event of this number, and whether more will come; all
   * events of an ended response were stored before its end. Undefined where the account has no such response.
   */
  async eventsAfter(owned: Owned, sequenceNumber: number): Promise<Events | undefined> {
    const { id, userId } = owned
    const { rows } = await sql<{ frames: string[] | null; running: boolean; late: boolean | null }>`
      select running_until is not null as running, ${isLate} as late, (
        select array_agg(frames order by sequence_number) from (
          select frames, sequence_number from response_event
          where response_id = ${id} and user_id = ${userId} and sequence_number > ${sequenceNumber}
          order by sequence_number limit ${batchesPerRead}
        ) as next
      ) as frames
      from stored_response where id = ${id} and user_id = ${userId}`.execute(this.#db)
    const [row] = rows
    if (row?.late) await this.find(owned)
    return row && { frames: row.frames ?? [], isRunning: row.running }
  }

  /** Finds a response; undefined where the account has none of this id. One whose node is dead has failed. */
  async find({ id, userId }: Owned, pause: Pause = yieldToLoop): Promise<Standing | undefined> {
    if (!possibleId.test(id)) return undefined
    const standing = await this.#read({ id, userId }, pause)
    if (!standing?.isLost) return standing
    await this.#fail({ id, userId }, standing.response)
    return this.#read({ id, userId }, pause)
  }

  async #read(
    { id, userId }: Owned,
    pause: Pause,
  ): Promise<(Standing & { isLost: boolean }) | undefined> {
    const row = await this.#db
      .selectFrom('stored_response')
      .select(['response', 'is_background', 'keeps_events', isLate.as('is_late')])
      .select(sql<boolean>`running_until is not null`.as('is_running'))
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    if (!row) return undefined
    return {
      response: await toObject(row.response, pause),
      isBackground: row.is_background,
      isRunning: row.is_running,
      storesEvents: row.keeps_events,
      isLost: row.is_running && row.is_late,
    }
  }

  /**
   * Cancels a response and returns its state, ended or cancelled; undefined where the account has none of this id.
   */
  async cancel(owned: Owned, pause?: Pause): Promise<Standing | undefined> {
    const standing = await this.find(owned, pause)
    if (!standing?.isRunning) return standing
    await this.end(owned, { ...standing.response, status: 'cancelled', output: [] })
    return this.find(owned, pause)
  }

  /** Deletes a response that never began, and whose id no client knows. */
  async discard({ id, userId }: Owned): Promise<void> {
    await this.#db
      .deleteFrom('stored_response')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('running_until', 'is not', null)
      .execute()
  }

  /** Ends responses whose nodes are dead, and purges events after their retention. */
  async sweep(): Promise<void> {
    const lost = await this.#db
      .selectFrom('stored_response')
      .select(['id', 'user_id', 'response'])
      .where(isLate)
      .limit(lostPerBatch)
      .execute()
    for (const { id, user_id: userId, response } of lost) {
      await this.#fail({ id, userId }, await toObject(response, yieldToLoop))
    }
    await sql`
      with ended as (
        update stored_response set keeps_events = false, event_bytes = 0
        where keeps_events and ended_at < now() - ${eventRetention}::interval
        returning id, user_id
      )
      delete from response_event using ended
      where response_id = ended.id and response_event.user_id = ended.user_id`.execute(this.#db)
  }

  async #fail(owned: Owned, response: JsonObject): Promise<void> {
    const failed = { ...response, status: 'failed', error: lost }
    if (!(await this.end(owned, failed))) return
    const { rows } = await sql<{ next: string }>`
      select coalesce(max(sequence_number), -1) + 1 as next from response_event
      where response_id = ${owned.id} and user_id = ${owned.userId}`.execute(this.#db)
    const next = Number(rows[0]?.next)
    const event = { type: 'response.failed', sequence_number: next, response: failed }
    await this.addEvents(owned, namedFrame(event), next)
  }
}

const lost = {
  code: 'server_error',
  message:
    'The server that ran this response stopped before it was complete. Output that the provider had already sent may have been charged.',
}

const tooManyResponses = () =>
  new ApiError('rate_limit_exceeded', {
    message: `${maxRunning} background responses of this account are running, the maximum. Wait for one of them to end.`,
    details: { limit: maxRunning, window: 0, retry_after: 5 },
    retryAfterSeconds: 5,
  })

const tooLarge = () =>
  invalidRequest(
    'input',
    'body_too_large',
    `input: that of a background response is stored, and has at most ${maxBytes / 1024 / 1024} MB.`,
  )

/** A response that a provider has made has at most the structure of an answer. */
async function toObject(text: string, pause: Pause): Promise<JsonObject> {
  const [response = {}] = await parseObjects([text], answerShape, pause)
  return response
}
