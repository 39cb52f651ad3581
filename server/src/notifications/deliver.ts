import { sql, type Kysely } from 'kysely'
import { openDestination, signatureHeaders } from './destination'
import { formatBody } from './event-bodies'
import { endWaiting, testEvent } from './events'
import { notify } from './notify'
import { findRecipients } from './recipients'
import { isOwnedBy, type Owner } from '../platform/db/account-row'
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
} & { destination: Pick<DestinationRow, 'id' | 'name' | 'kind' | 'secret'> & Owner }

interface Outcome {
  isDelivered: boolean
  status: number | null
  text: string | null
  error: string | null
}

const deadlineMs = 15_000
const maxTextBytes = 1024
const goneStatus = 410
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
  async (delivery: TakenDelivery, stop?: AbortSignal): Promise<void> => {
    const outcome = await attempt(options, delivery, stop)
    await options.db.transaction().execute((trx) => record(trx, delivery, outcome))
  }

async function attempt(
  { sealingKeys, send }: DeliverOptions,
  { id, payload, destination }: TakenDelivery,
  stop?: AbortSignal,
): Promise<Outcome> {
  try {
    const secret = openDestination(destination, sealingKeys)
    const body = formatBody(destination.kind, payload, { id, routingKey: secret.routingKey })
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
      owner: destination.organization_id ?? destination.user_id ?? '',
    })
    const { status } = answer
    const isDelivered = status >= 200 && status < 300
    const text = await readStart(answer)
    return { isDelivered, status, text, error: isDelivered ? null : `The answer was ${status}.` }
  } catch (thrown) {
    if (stop?.aborted) throw thrown
    const isLate = thrown instanceof Error && thrown.name === 'TimeoutError'
    // The reason is not told: it would map the network of this server.
    const error = isLate ? 'There was no answer within 15 seconds.' : 'The address was not reached.'
    return { isDelivered: false, status: null, text: null, error }
  }
}

/** Reads the beginning of an answer and cancels the rest. A body that breaks off does not undo its status. */
async function readStart(answer: DestinationAnswer): Promise<string> {
  let start = Buffer.alloc(0)
  try {
    while (start.length < maxTextBytes) {
      const piece = await answer.read()
      if (!piece) break
      start = Buffer.concat([start, piece])
    }
  } catch {
    // The status was received, which is what counts.
  } finally {
    answer.cancel()
  }
  return start.subarray(0, maxTextBytes).toString('utf8').replaceAll('\0', '\uFFFD')
}

/**
 * Records an attempt; the destination's state follows. Does nothing when another attempt was made meanwhile: this
 * one had outlived its lease.
 */
async function record(
  trx: Kysely<Schema>,
  { id, event, attempts, expires_at: expiresAt, destination }: TakenDelivery,
  { isDelivered, status, text, error }: Outcome,
): Promise<void> {
  // Locked before its deliveries, as a change of it does: in the other order the two could wait for each other.
  const current = await lockDestination(trx, destination)
  if (!current) return
  const pause = pauses[attempts - 1] ?? lastPause
  const isLast =
    event === testEvent ||
    status === goneStatus ||
    !current.enabled ||
    Date.now() + pause * 1000 > expiresAt.getTime()
  const failure = isLast ? 'failed' : 'waiting'
  const { numUpdatedRows } = await trx
    .updateTable('notification_delivery')
    .set({
      status: isDelivered ? 'delivered' : failure,
      next_attempt_at: sql<Date>`now() + make_interval(secs => ${pause})`,
      leased_until: null,
      last_attempt_at: sql<Date>`now()`,
      response_status: status,
      response_text: text,
      error,
    })
    .where('id', '=', id)
    .where('destination_id', '=', destination.id)
    .where('status', '=', 'waiting')
    .where('attempts', '=', attempts)
    .executeTakeFirst()
  if (numUpdatedRows === 0n || event === testEvent) return
  await follow(trx, destination, { current, isDelivered, isGone: status === goneStatus })
}

const lockDestination = (trx: Kysely<Schema>, { id, ...owner }: TakenDelivery['destination']) =>
  trx
    .selectFrom('notification_destination')
    .select([
      'enabled',
      'failing_since',
      sql<boolean>`coalesce(failing_since < now() - interval '3 days', false)`.as('is_over'),
    ])
    .where('id', '=', id)
    .where(isOwnedBy(owner))
    .forNoKeyUpdate()
    .executeTakeFirst()

interface Followed {
  current: NonNullable<Awaited<ReturnType<typeof lockDestination>>>
  isDelivered: boolean
  isGone: boolean
}

/** Updates the state of a destination, and disables one that is gone or has failed for three days. */
async function follow(
  trx: Kysely<Schema>,
  { id, name, ...owner }: TakenDelivery['destination'],
  { current, isDelivered, isGone }: Followed,
): Promise<void> {
  const isDisabled = current.enabled && !isDelivered && (isGone || current.is_over)
  // Most attempts change nothing.
  if (!isDisabled && isDelivered === (current.failing_since === null)) return
  const reason = isGone ? 'The address answered 410.' : 'Deliveries failed for three days.'
  await trx
    .updateTable('notification_destination')
    .set({
      failing_since: isDelivered ? null : sql<Date>`coalesce(failing_since, now())`,
      ...(isDisabled && { enabled: false, disabled_reason: reason }),
    })
    .where('id', '=', id)
    .where(isOwnedBy(owner))
    .execute()
  if (!isDisabled) return
  await endWaiting(trx, id)
  for (const { id: userId } of await findRecipients(trx, owner)) {
    await notify(trx, {
      userId,
      kind: 'system',
      title: `A destination of notifications was disabled: ${name}`,
      body: `${reason} Nothing is sent to it until you enable it again.`,
      link:
        owner.organization_id === null
          ? '/alerts'
          : `/organizations/${owner.organization_id}?tab=limits`,
    })
  }
}
