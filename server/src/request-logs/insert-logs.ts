import { sql, type Kysely } from 'kysely'
import { addCounted } from './request-sums'
import { logColumns } from './log-record'
import { elementsOf } from '../platform/db/elements'
import type { Schema } from '../platform/db/schema'
import { isRefused } from '../platform/db/violation'

/** Milliseconds since the epoch as a time, exactly; null for a column without value. */
function valueOf([name, type]: (typeof logColumns)[number], position: number): string {
  if (name === 'started_at') {
    return `timestamptz 'epoch' + (log ->> ${position})::bigint * interval '1 millisecond'`
  }
  if (type === 'jsonb') return `nullif(log -> ${position}, 'null')`
  return `(log ->> ${position})::${type}`
}

const names = sql.raw(logColumns.map(([name]) => name).join(', '))
const values = sql.raw(logColumns.map(valueOf).join(', '))

/** A name that is no model's is left out: it would stay in the sums for two years. */
const summedModel = sql.raw(`
  case when provider is null and (requested_model = '' or coalesce(error ->> 'code', '') in
    ('model_not_found', 'invalid_model', 'invalid_request')) then '' else model end`)

const countedColumns = sql`
  date_bin('1 minute', started_at, timestamptz 'epoch') as starts_at, user_id,
  coalesce(key_id, '') as key_id, ${summedModel} as model`
const countedByTags = sql`${countedColumns}, tags`

/** As `countLimitedMedia` counts them. */
const limitedMedia = sql`
  coalesce(sum(images) filter (where endpoint like '/v1/images/%'), 0) as images,
  coalesce(sum(ceil((coalesce(sound_ms, 0) + coalesce(speech_ms, 0)) / 1000.0))
    filter (where endpoint like '/v1/audio/%'), 0) as audio_seconds`

/** The end of a record with the literal of tags, which only the provider's cost follows. */
const taggedEnd = /\}"(?:,(?:null|"\d+"))?\]$/

/** Whether some records may have tags. */
const mayHaveTags = (records: readonly string[]): boolean =>
  records.some((record) => taggedEnd.test(record))

/** The part of a cost that the house keeps, as `revenueOf` returns it, and whether `isUncosted`. */
const revenue = sql.raw(
  "case billing_mode when 'member_pays' then platform_fee when 'house' then 0 else cost end",
)
const isUncosted = sql.raw(
  `provider_cost is null and billing_mode in ('platform', 'house', 'free')
    and (cost > 0 or input_tokens + output_tokens > 0)`,
)

/**
 * Inserts new logs, given as records, and adds them to the sums by hour and day and to the minutes and peaks: one
 * statement, so that a log sent twice counts once.
 */
export async function insertLogs(db: Kysely<Schema>, records: readonly string[]): Promise<void> {
  if (records.length === 0) return
  const hasTags = mayHaveTags(records)
  await sql`
    with fresh as (
      insert into request_log (${names})
      select ${values} from ${elementsOf(records)} as log
      order by 1
      on conflict do nothing
      returning started_at, user_id, key_id, model, requested_model, provider, error, status, input_tokens,
        output_tokens, latency_ms, cost, account_id, concurrent, tags, billing_mode, platform_fee, provider_cost,
        endpoint, images, sound_ms, speech_ms
    ), counted as (
      -- Reads each log once: hours and days are sums of minutes.
      select ${hasTags ? countedByTags : countedColumns},
        count(*) as requests,
        count(*) filter (where status = 'success') as successes,
        count(*) filter (where status = 'error') as failures,
        count(*) filter (where status = 'cancelled') as cancellations,
        sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
        coalesce(sum(latency_ms) filter (where status = 'success'), 0) as latency_ms,
        sum(cost) as cost, coalesce(sum(cost) filter (where account_id = user_id), 0) as own_cost,
        sum(${revenue}) as revenue, coalesce(sum(provider_cost), 0) as provider_cost,
        count(*) filter (where ${isUncosted}) as uncosted,
        max(concurrent) as peak_concurrent, ${limitedMedia}
      from fresh
      group by 1, 2, 3, 4${sql.raw(hasTags ? ', 5' : '')}
    ), ${addCounted({ hasTags })}`.execute(db)
}

/** Inserts logs one by one and skips those that the database refuses: they would block all others for good. */
export async function insertSound(
  db: Kysely<Schema>,
  records: readonly string[],
  onRejected: (error: unknown) => void,
): Promise<void> {
  for (const record of records) {
    await insertLogs(db, [record]).catch((error: unknown) => {
      if (!isRefused(error)) throw error
      onRejected(error)
    })
  }
}

/** The bodies of one request and its answer. */
export interface StoredBodies {
  id: string
  startedAt: Date
  userId: string
  request: string | null
  response: string | null
}

/** Inserts new bodies. */
export async function insertBodies(
  db: Kysely<Schema>,
  bodies: readonly StoredBodies[],
): Promise<void> {
  if (bodies.length === 0) return
  await db
    .insertInto('request_body')
    .values(
      bodies.map(({ id, startedAt, userId, request, response }) => ({
        id,
        started_at: startedAt,
        user_id: userId,
        request_body: request,
        response_body: response,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
