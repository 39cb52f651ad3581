import { sql, type Kysely } from 'kysely'
import { openDestination, signatureHeaders } from './destination'
import { testEvent } from './events'
import { notify } from './notify'
import { toSlackMessage } from './slack'
import type { DeliveryRow, DestinationRow } from '../platform/db/notice-schema'
import type { Schema } from '../platform/db/schema'
import type { SealingKeys } from '../platform/db/sealed'

/** A request to the address of a destination. */
interface DestinationCall {
  method: 'POST'
  url: string
  headers: Record<string, string>
  body: string
  signal: AbortSignal
  owner: string
}

interface DestinationAnswer {
  status: number
  read: () => Promise<Uint8Array | undefined>
  cancel: () => void
}

export interface DeliverOptions {
  db: Kysely<Schema>
  sealingKeys: SealingKeys
  /** The guarded way out, which follows no redirects. */
  send: (call: DestinationCall) => Promise<DestinationAnswer>
}

/** A delivery that was taken for an attempt, and its destination. */
export type TakenDelivery = Pick<DeliveryRow, 'id' | 'event' | 'payload'> & {
  attempts: number
  expires_at: Date
} & { destination: Pick<DestinationRow, 'id' | 'user_id' | 'name' | 'kind' | 'secret'> }

interface Outcome {
  isDelivered: boolean
  status: number | null
  text: string | null
  error: string | null
}

const deadlineMs = 15_000
const maxAnswerBytes = 16_384
const maxText = 1024
const gone = 410
/** The pauses after attempts, in seconds; the last is repeated. */
const pauses = [5, 300, 1800, 7200, 18_000, 36_000] as const
const lastPause = 36_000

export type Deliver = ReturnType<typeof createDeliver>

/**
 * Creates the delivery of one event: an attempt, and its record. An attempt that ends without a record is made again
 * under the same id.
 */
export const createDeliver =
  (options: DeliverOptions) =>
  async (delivery: TakenDelivery, stop?: AbortSignal): Promise<Outcome> => {
    const outcome = await attempt(options, delivery, stop)
    await options.db.transaction().execute((trx) => record(trx, delivery, outcome))
    return outcome
  }

async function attempt(
  { sealingKeys, send }: DeliverOptions,
  { id, payload, destination }: TakenDelivery,
  stop?: AbortSignal,
): Promise<Outcome> {
  try {
    const secret = openDestination(destination, sealingKeys)
    const body = destination.kind === 'slack' ? toSlackMessage(payload) : payload
    const timeout = AbortSignal.timeout(deadlineMs)
    const answer = await send({
      method: 'POST',
      url: secret.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Tollgate',
        ...signatureHeaders(secret, { id, atMs: Date.now(), body }),
      },
      body,
      signal: stop ? AbortSignal.any([timeout, stop]) : timeout,
      owner: destination.user_id,
    })
    const { status } = answer
    const isDelivered = status >= 200 && status < 300
    const text = await readStart(answer)
    return { isDelivered, status, text, error: isDelivered ? null : `The answer was ${status}.` }
  } catch (thrown) {
    if (stop?.aborted) throw thrown
    const isLate = thrown instanceof Error && thrown.name === 'TimeoutError'
    const error = isLate ? 'There was no answer within 15 seconds.' : 'The address was not reached.'
    return { isDelivered: false, status: null, text: null, error }
  }
}

/** Reads the beginning of an answer and leaves the rest. A body that breaks off does not undo its status. */
async function readStart(answer: DestinationAnswer): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    while (size < maxAnswerBytes) {
      const piece = await answer.read()
      if (!piece) break
      if (size < maxText) pieces.push(piece.slice(0, maxText - size))
      size += piece.byteLength
    }
  } catch {
    // The status was received, which is what counts.
  } finally {
    answer.cancel()
  }
  return Buffer.concat(pieces).toString('utf8').replaceAll('\0', '\uFFFD')
}

/** Records an attempt; the destination's state follows. */
async function record(
  trx: Kysely<Schema>,
  { id, event, attempts, expires_at: expiresAt, destination }: TakenDelivery,
  { isDelivered, status, text, error }: Outcome,
): Promise<void> {
  const pause = pauses[attempts - 1] ?? lastPause
  const isLast =
    event === testEvent || status === gone || Date.now() + pause * 1000 > expiresAt.getTime()
  const failure = isLast ? 'failed' : 'waiting'
  await trx
    .updateTable('notification_delivery')
    .set({
      status: isDelivered ? 'delivered' : failure,
      next_attempt_at: sql<Date>`now() + make_interval(secs => ${pause})`,
      last_attempt_at: sql<Date>`now()`,
      response_status: status,
      response_text: text,
      error,
    })
    .where('id', '=', id)
    .execute()
  if (event !== testEvent) await follow(trx, destination, { isDelivered, isGone: status === gone })
}

/** Updates the state of a destination, and disables one that is gone or has failed for three days. */
async function follow(
  trx: Kysely<Schema>,
  { id, user_id: userId, name }: TakenDelivery['destination'],
  { isDelivered, isGone }: { isDelivered: boolean; isGone: boolean },
): Promise<void> {
  const row = await trx
    .updateTable('notification_destination')
    .set({
      failing_since: isDelivered ? null : sql<Date>`coalesce(failing_since, now())`,
    })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(['enabled', sql<boolean>`failing_since < now() - interval '3 days'`.as('is_over')])
    .executeTakeFirst()
  if (!row?.enabled || isDelivered || !(isGone || row.is_over)) return
  const reason = isGone ? 'The address answered 410.' : 'Deliveries failed for three days.'
  await trx
    .updateTable('notification_destination')
    .set({ enabled: false, disabled_reason: reason })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .execute()
  await notify(trx, {
    userId,
    kind: 'system',
    title: `A destination of notifications was disabled: ${name}`,
    body: `${reason} Nothing is sent to it until you enable it again.`,
  })
}
