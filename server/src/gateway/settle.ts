import type { Failover } from './failover'
import type { OwnFields } from './own-fields'
import { CostWriter, HeldChunk, HeldFrames, type HeldUsage } from './reported-cost'
import type { InboundRequest, OpenStream, StreamReply } from './request'
import type { UnansweredTotal } from './unanswered-use'
import type { Principal } from '../auth/principal'
import { ApiError } from '../errors'
import type { Admission } from '../limits/limits'
import type { Ending, Meter } from '../metering/meter'
import type { WindowReservation } from '../metering/window-reservation'
import { withTimeout } from '../platform/with-timeout'
import type { RequestLog } from '../request-logs/request-log'
import type { Candidate } from '../routing/candidate'
import type { CachedConversation } from '../routing/conversation'
import { decidesItself } from '../routing/preferences'
import { hidesCachedTokens } from '../shared-credentials/credential'
import { ClientDisconnected, type ChunkStream } from '../wire/chunk-stream'
import { withoutCacheCounts } from '../wire/hidden-cache'
import { addUsage } from '../wire/add-usage'
import { completionTokens, promptTokens, type Usage } from '../wire/usage'

/** The outcome of a request, without its usage. */
type EndingOutcome = Pick<Ending, 'outcome' | 'error'>

const succeeded: EndingOutcome = { outcome: 'ok' }

/** The recorded form of an error. */
export function toOutcome(thrown: unknown): string {
  if (thrown instanceof ClientDisconnected) return 'cancelled'
  return thrown instanceof ApiError ? thrown.code : 'internal_error'
}

/** The outcome of a request that failed. */
const toEndingOutcome = (thrown: unknown): EndingOutcome => ({
  outcome: toOutcome(thrown),
  error: thrown instanceof ApiError ? thrown : undefined,
})

const maxRecordingMs = 1000

/** Waits until an end is recorded, so that a caller who learns of it finds it; not for long. */
async function waitUntilRecorded(settling: Promise<bigint>): Promise<void> {
  await withTimeout(settling, maxRecordingMs).catch(() => undefined)
}

/** Settles without waiting: a failed request has an error of its own, and `onLost` reports an end that was lost. */
const settleUnawaited = (settling: Promise<bigint>) => void settling.catch(() => undefined)

/** The lifecycle of an authenticated request: ends every stage that it reached. */
export class RequestLifecycle {
  readonly call: InboundRequest
  readonly principal: Principal
  readonly log: RequestLog
  admission: Admission | undefined
  spending: WindowReservation | undefined
  candidates: readonly Candidate[] = []
  meter: Meter | undefined
  /** The fields that Tollgate obeys. */
  own: Pick<OwnFields, 'preferences' | 'wantsCost' | 'omittedFields'> | undefined
  /** Nano-dollars, once it was settled. */
  cost = 0n
  failover:
    | Pick<
        Failover<never>,
        'end' | 'releaseSlots' | 'unansweredTotal' | 'candidate' | typeof Symbol.dispose
      >
    | undefined
  /** Notified of the route that served the request, so that the next request of its conversation goes there. */
  conversation: CachedConversation | undefined
  #settling: Promise<bigint> | undefined

  constructor(call: InboundRequest, principal: Principal, log: RequestLog) {
    this.call = call
    this.principal = principal
    this.log = log
  }

  /** The request was counted. From here on it must be ended. */
  onAdmitted(admission: Admission, spending?: WindowReservation): void {
    this.admission = admission
    this.spending = spending
    this.call.reportQuota(admission.quota)
  }

  /** The client has disconnected and the request continues; its use may be known later. Twice is harmless. */
  onClientDisconnect(): void {
    this.admission?.releaseSlot()
    this.failover?.releaseSlots()
  }

  /** It failed before anything went out. Resolves when that is recorded, or takes too long. */
  async fail(thrown: unknown): Promise<void> {
    const ending = toEndingOutcome(thrown)
    if (this.admission) await waitUntilRecorded(this.settle({ usage: undefined, ...ending }))
    this.log.refuse(ending)
  }

  /**
   * Ends the request. Resolves with its cost in nano-dollars once its booking is certain; rejects where it may not be
   * booked: then the caller must not get a success. Only the first call counts: a request ends once.
   */
  settle(ending: Ending): Promise<bigint> {
    this.#settling ??= this.#end(ending)
    return this.#settling
  }

  /** The usage as the caller sees it. */
  #toShown(usage: Usage): Usage {
    const candidate = this.failover?.candidate
    return candidate && hidesCachedTokens(candidate) ? withoutCacheCounts(usage) : usage
  }

  /** Adds the preferences without effect to the fields that an answer was made without. */
  withIgnored(omittedFields: readonly string[] | undefined): readonly string[] | undefined {
    const { own } = this
    if (!own) return omittedFields
    const candidate = this.failover?.candidate
    const isIgnored = candidate && !decidesItself(candidate)
    const ignoredPreferences = isIgnored ? (own.preferences?.ignoredFields ?? []) : []
    const fields = [...own.omittedFields, ...ignoredPreferences]
    return fields.length === 0 ? omittedFields : [...(omittedFields ?? []), ...fields]
  }

  #rememberRoute({ outcome }: Ending): void {
    const candidate = this.failover?.candidate
    if (!candidate || outcome !== 'ok') return
    const { model, connection } = candidate
    this.conversation?.recordRoute({ modelId: model.id, connectionId: connection.id })
  }

  #releaseResources(): void {
    this.failover?.[Symbol.dispose]()
    void this.call.upload?.[Symbol.asyncDispose]()
  }

  /** The one place where a request ends, for whatever reason. */
  async #end(reportedEnding: Ending): Promise<bigint> {
    const ending = withUnanswered(reportedEnding, this.failover?.unansweredTotal)
    this.log.setOutcome(ending)
    // All in one tick: the limits count the amount that is charged.
    const booking = this.meter?.end(ending)
    const usage = this.meter?.usage
    const usedTokens = usage ? promptTokens(usage) + completionTokens(usage) : 0
    this.admission?.trueUp(usedTokens, usage)
    this.failover?.end(usedTokens, usage)
    this.#rememberRoute(ending)
    this.admission?.release()
    for (const { member } of this.candidates) member?.end(ending.outcome)
    this.spending?.end()
    try {
      // Its last attempt has taken the log along; without one, the log is written alone.
      this.log.close()
      if (booking) this.cost = await booking
      return this.cost
    } finally {
      this.#releaseResources()
      this.call.onSettled?.(usage && this.#toShown(usage), this.cost)
    }
  }
}

/** An end with the use of its parts that came to no answer. */
function withUnanswered(ending: Ending, unpaid: UnansweredTotal | undefined): Ending {
  const { usage, outcome } = ending
  if (!unpaid || outcome === 'ok') return ending
  if (!usage) return { ...ending, ...unpaid }
  // Parts that went out are paid as they are.
  return unpaid.isFree ? ending : { ...ending, usage: addUsage(usage, unpaid.usage) }
}

/**
 * Passes a stream through and settles its request when it ends: before its last chunk, when it breaks, when it never
 * opens, and when nothing more comes of it after the client has disconnected.
 */
export function settleOnEnd(reply: StreamReply, lifecycle: RequestLifecycle): StreamReply {
  onAbort(lifecycle.call.signal, () => lifecycle.onClientDisconnect())
  const opening = reply.opening.then(
    (openStream) => {
      lifecycle.meter?.recordAnswer()
      lifecycle.log.onFirstChunk()
      const stream = new SettledStream(openStream, lifecycle, reply.sound !== undefined)
      onAbort(lifecycle.call.signal, () => stream.detach())
      return {
        ...openStream,
        stream,
        omittedFields: lifecycle.withIgnored(openStream.omittedFields),
      }
    },
    async (thrown: unknown) => {
      const ending = { usage: undefined, ...toEndingOutcome(thrown) }
      await waitUntilRecorded(lifecycle.settle(ending))
      throw thrown
    },
  )
  // The reader of the stream sees the rejection.
  opening.catch(() => undefined)
  const { writer, sound } = reply
  if (!writer || sound || !lifecycle.own?.wantsCost) return { ...reply, opening }
  return { ...reply, opening, writer: new CostWriter(writer, () => lifecycle.cost) }
}

/** Calls a function once the client has disconnected, even where the stream is no longer read. */
function onAbort(signal: AbortSignal, onAborted: () => void): void {
  if (signal.aborted) onAborted()
  else signal.addEventListener('abort', onAborted, { once: true })
}

/** The error that broke a stream, where its client had not disconnected. */
interface Failure {
  thrown: unknown
}

/** A stream that settles its request. */
class SettledStream implements ChunkStream {
  readonly #openStream: OpenStream
  readonly #lifecycle: RequestLifecycle
  /** Set when the client has disconnected: then only this settles. */
  #detaching: Promise<bigint> | undefined
  /** The provider's answer is drained without its client. */
  #isDrained = false
  readonly #heldUsage: HeldUsage | undefined
  /** Its chunks are sound, which no log keeps. */
  readonly #isSound: boolean

  constructor(openStream: OpenStream, lifecycle: RequestLifecycle, isSound: boolean) {
    this.#openStream = openStream
    this.#lifecycle = lifecycle
    this.#isSound = isSound
    if (lifecycle.own?.wantsCost && !isSound)
      this.#heldUsage = openStream.isEncoded ? new HeldFrames() : new HeldChunk()
  }

  get isEnded(): boolean {
    return this.#openStream.stream.isEnded
  }

  async read(): Promise<string[] | undefined> {
    try {
      const { stream, isEncoded = false } = this.#openStream
      const chunks = await stream.read()
      if (chunks && !this.#isSound) this.#lifecycle.log.addPieces(chunks, isEncoded)
      const heldUsage = this.#heldUsage
      const sentChunks = chunks && heldUsage ? heldUsage.hold(chunks) : chunks
      if (chunks && !this.isEnded) return sentChunks
      const cost = await this.#end(succeeded)
      return heldUsage ? [...(sentChunks ?? []), ...heldUsage.release(cost)] : sentChunks
    } catch (thrown) {
      const failure = thrown instanceof ClientDisconnected ? undefined : { thrown }
      const detaching = this.#detach(toEndingOutcome(thrown), failure)
      if (!this.#isDrained) await waitUntilRecorded(detaching)
      throw thrown
    }
  }

  cancel(reason: Error): void {
    if (reason instanceof ClientDisconnected) return this.detach()
    this.#openStream.stream.cancel(reason)
    settleUnawaited(this.#end(toEndingOutcome(reason)))
  }

  /** The client has disconnected. A stream that finished just then is a finished one. */
  detach(): void {
    if (this.isEnded) return settleUnawaited(this.#end(succeeded))
    void this.#detach({ outcome: 'cancelled' })
  }

  #detach(ending: EndingOutcome, failure?: Failure): Promise<bigint> {
    if (this.#detaching) return this.#detaching
    this.#detaching = this.#settleRest(ending, failure)
    settleUnawaited(this.#detaching)
    this.#lifecycle.onClientDisconnect()
    return this.#detaching
  }

  async #settleRest(ending: EndingOutcome, failure: Failure | undefined): Promise<bigint> {
    const { usage, usageAfter, detach } = this.#openStream
    using remainder = detach()
    this.#isDrained = remainder.rest !== undefined
    if (remainder.rest) await remainder.rest
    const { isFree } = remainder
    const finalUsage = failure && !this.#isDrained ? usageAfter(failure.thrown) : usage()
    return await this.#lifecycle.settle({ usage: finalUsage, ...ending, isFree })
  }

  #end(ending: EndingOutcome): Promise<bigint> {
    return this.#detaching ?? this.#lifecycle.settle({ usage: this.#openStream.usage(), ...ending })
  }
}
