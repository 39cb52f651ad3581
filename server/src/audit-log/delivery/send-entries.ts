import { openAuditDestination, type AuditDestinationSecret } from './secret'
import { parseSyslogUrl, toSyslogFrame, toSyslogMessage } from './syslog'
import { toWebhookRequest } from './webhook'
import type { Batch, BatchProgress, TakenDestination } from './outbox'
import type { AuditEntry } from '../entries'
import type { SealingKeys } from '../../platform/db/sealed'

interface WebhookCall {
  method: 'POST'
  url: string
  headers: Record<string, string>
  body: string
  signal: AbortSignal
  owner: string | null
}

interface SyslogStream {
  host: string
  port: number
  isSecure: boolean
  bytes: Uint8Array
  signal: AbortSignal
  owner: string | null
}

/** The ways out: guarded, and without redirects, where an organization is the owner. */
export interface SendPorts {
  sealingKeys: SealingKeys
  send: (call: WebhookCall) => Promise<{ status: number; cancel: () => void }>
  sendStream: (stream: SyslogStream) => Promise<void>
}

interface Sending {
  items: Batch['items']
  stop: AbortSignal
}

const deadlineMs = 15_000
/** A batch of webhooks ends after this, so that its lease outlasts it. */
const maxBatchMs = 30_000

/** Sends a batch in order. An attempt that `stop` ends is no failure, and is made again. */
export async function sendEntries(
  ports: SendPorts,
  destination: TakenDestination,
  batch: Sending,
): Promise<BatchProgress> {
  const progress: BatchProgress = { donePositions: [], takenCount: 0, error: undefined }
  try {
    const secret = openAuditDestination(destination, ports.sealingKeys)
    const send = destination.kind === 'syslog' ? sendSyslog : sendWebhooks
    await send(ports, { secret, owner: destination.organization_id }, { ...batch, progress })
  } catch (thrown) {
    if (!batch.stop.aborted) progress.error = toReason(thrown)
  }
  return progress
}

interface Target {
  secret: AuditDestinationSecret
  owner: string | null
}

interface Running extends Sending {
  progress: BatchProgress
}

/** A reason without details of the network, which would map it. */
function toReason(thrown: unknown): string {
  if (thrown instanceof Rejected) return thrown.message
  const isLate = thrown instanceof Error && thrown.name === 'TimeoutError'
  if (isLate) return 'There was no answer within 15 seconds.'
  return 'The address was not reached, or closed the connection too early.'
}

/** An answer that is no success. */
class Rejected extends Error {}

const deadline = (stop: AbortSignal) => AbortSignal.any([AbortSignal.timeout(deadlineMs), stop])

/** Sends each entry as a request, the next once the one before was taken. */
async function sendWebhooks(
  { send }: SendPorts,
  { secret, owner }: Target,
  { items, stop, progress }: Running,
): Promise<void> {
  const endsAtMs = performance.now() + maxBatchMs
  for (const { position, entry } of items) {
    if (performance.now() > endsAtMs) return
    if (entry) {
      const request = toWebhookRequest(entry, secret, Date.now())
      const answer = await send({ ...request, signal: deadline(stop), owner })
      answer.cancel()
      const { status } = answer
      if (status < 200 || status >= 300) throw new Rejected(`The answer was ${status}.`)
      progress.takenCount += 1
    }
    progress.donePositions.push(position)
  }
}

/** Sends all entries over one connection, and takes them as delivered once the server has closed it in order. */
async function sendSyslog(
  { sendStream }: SendPorts,
  { secret, owner }: Target,
  { items, stop, progress }: Running,
): Promise<void> {
  const server = parseSyslogUrl(secret.url)
  if (!server) throw new Rejected('The address is not one of a syslog server.')
  const entries = items.flatMap(({ entry }) => (entry ? [entry] : []))
  if (entries.length > 0) {
    const bytes = Buffer.from(framesOf(entries), 'latin1')
    await sendStream({ ...server, bytes, signal: deadline(stop), owner })
  }
  progress.takenCount = entries.length
  progress.donePositions = items.map(({ position }) => position)
}

const framesOf = (entries: readonly AuditEntry[]) =>
  entries.map((entry) => toSyslogFrame(toSyslogMessage(entry))).join('')
