import type { Arrival, LoggedCaller } from './arrival'
import { clean, harmless, toStoredMetadata, maxName } from './caller-text'
import { finishIn, finishOf } from './finish-reason'
import type { StoredBodies } from './insert-logs'
import { LoggedAnswer } from './logged-answer'
import { setMedia, type MadeMedia } from './logged-media'
import { toLoggedRequest, type LoggedRequest } from './logged-request'
import {
  type LoggedConnection,
  providerGateway,
  selfHostedGateway,
  type LogValues,
} from './log-record'
import { toFirstValues } from './first-values'
import { feeOf } from './platform-fee'
import { toStoredText, withoutSecrets } from './redact-body'
import { getIdTime } from '../platform/db/id'
import { ApiError, errors } from '../errors'
import { costToCaller, tokensRead, tokensWritten, type UsageEvent } from '../ledger/usage-event'
import type { JsonObject } from '../wire/json-body'
import { toTagSet } from '../wire/tags'
import { noUsage } from '../wire/usage'

/** Receives log records and bodies that are not written with an attempt. */
export interface LogSink {
  addLog: (record: string) => void
  addBodies: (bodies: StoredBodies) => void
}

/** The dependencies that the logs of all requests share. */
export interface LogPorts {
  sink: LogSink
  /** Whether the operator allows bodies to be stored. */
  allowsBodies: () => boolean
  /** Called when a request of an account begins. Returns the number of its requests on this node, this one included. */
  onBegin: (userId: string) => number
  /** Called once when a request has ended, with its duration in milliseconds. */
  onEnd: (values: LogValues, durationMs: number) => void
  /** Called for a repeat of an idempotent request, which has no log of its own. */
  onDrop: (userId: string) => void
}

/** The outcome of a request. */
export interface LoggedEnding {
  /** `ok`, `cancelled`, or the code of an error. */
  outcome: string
  error?: ApiError | undefined
}

const maxMessage = 1000
/** The status that proxies use for a request whose client disconnected. */
const clientClosedRequest = 499
const okEnding: LoggedEnding = { outcome: 'ok' }
const noPieces: readonly string[] = []

/**
 * Collects the log of one request. It ends once: as the record that its last attempt takes along to the journal, or,
 * where no provider was called, by itself.
 */
export class RequestLog {
  readonly #ports: LogPorts
  readonly #arrival: Arrival
  readonly #startedAtMs = performance.now()
  readonly #storesBodies: boolean
  /** The values of its record, as far as they are known. */
  readonly #values: LogValues
  #ending: LoggedEnding = okEnding
  /** The last pieces of a stream: they hold its finish reason. */
  #last: readonly string[] = noPieces
  #beforeLast: readonly string[] = noPieces
  #request: string | null = null
  #response: string | null = null
  #answer: LoggedAnswer | undefined
  #isOver = false
  #isRelayed = false
  /** The account does not see what came from a prompt cache, here no more than in its answers. */
  #hidesCache = false

  constructor(ports: LogPorts, arrival: Arrival, caller: LoggedCaller) {
    this.#ports = ports
    this.#arrival = arrival
    arrival.hasLog = true
    this.#storesBodies = caller.logBodies && ports.allowsBodies()
    this.#values = toFirstValues(arrival, caller, ports.onBegin(caller.userId))
  }

  /** Takes the text of the body; undefined where bodies are not stored. */
  get keepRequest(): ((text: string) => void) | undefined {
    return this.#storesBodies ? this.#requestKeeper() : undefined
  }

  #requestKeeper(): (text: string) => void {
    return (text) => {
      this.#request = toStoredText(text)
    }
  }

  /** Takes values from the body, which is parsed but not validated yet. */
  read(body: JsonObject): void {
    const { model } = body
    const values = this.#values
    if (typeof model === 'string') values.requestedModel = values.model = clean(model, maxName)
    values.streamed = body['stream'] === true
  }

  /** Takes values from a body that was validated, and is a request in our format. */
  checked(body: JsonObject): void {
    const { user, metadata } = body
    const values = this.#values
    values.streamed = body['stream'] === true
    if (typeof user === 'string') values.callerUser = harmless(user, 512)
    if (typeof metadata === 'object' && metadata !== null)
      values.metadata = toStoredMetadata(metadata)
  }

  /** Adds tags of the request to those of its key. */
  addTags(tags: readonly string[]): void {
    this.#values.tags = toTagSet([...(this.#values.tags ?? []), ...tags])
  }

  /** Records that the first chunk of a stream has arrived. */
  onFirstChunk(): void {
    this.#values.firstTokenMs = this.#elapsedMs()
  }

  /** Takes a whole answer, and its form for the client. */
  answered(body: object, rendered: object): void {
    this.#values.finishReason = finishOf(body)
    if (this.#storesBodies) this.#response = toStoredText(JSON.stringify(rendered))
  }

  /** Takes pieces of a stream: chunks, or frames where it is already encoded for the client. */
  addPieces(pieces: readonly string[], isEncoded: boolean): void {
    if (pieces.length === 0) return
    this.#beforeLast = this.#last
    this.#last = pieces
    if (!this.#storesBodies) return
    this.#answer ??= new LoggedAnswer()
    this.#answer.add(pieces, isEncoded)
  }

  /** Sets the outcome of the request; its record follows. */
  setOutcome(setOutcome: LoggedEnding): void {
    if (!this.#isOver) this.#ending = setOutcome
  }

  /** Records the begin of an attempt, after one that failed, on a connection; `gatewayId`: the self-hosted gateway that sends it. */
  beginAttempt(
    event: UsageEvent,
    failed: UsageEvent | undefined,
    { gatewayId = null, options }: LoggedConnection = {},
  ): void {
    this.#isRelayed = gatewayId !== null
    this.#hidesCache = options?.hide_cached_tokens === true
    this.#arrival.trace?.beginAttempt(event, failed)
  }

  /**
   * Returns the record of a request whose last attempt is about to be settled; undefined after the end.
   * `cacheSavings`: the part of its price that a cache saved, in nano-dollars; `madeMedia`: its images and sound.
   */
  record(
    event: UsageEvent,
    cacheSavings = 0n,
    madeMedia: MadeMedia = noUsage,
  ): LoggedRequest | undefined {
    if (this.#isOver) return undefined
    const { tokens } = event
    const values = this.#values
    values.model = event.model
    values.provider = event.provider
    values.inputTokens = tokensRead(tokens)
    values.outputTokens = tokensWritten(tokens)
    if (!this.#hidesCache) {
      values.cachedTokens = tokens.cachedInput
      values.cacheWriteTokens = tokens.cacheWrite + tokens.cacheWriteLong
      values.cacheSavings = cacheSavings
    }
    setMedia(values, tokens, madeMedia)
    values.estimated = event.estimated
    values.cost = costToCaller(event)
    values.platformFee = feeOf(event)
    values.providerCost = event.providerCost
    values.billingMode = event.billingMode
    values.accountId = event.accountId
    values.organizationId = event.organizationId
    values.connectionId = event.connectionId
    values.gatewayType = this.#isRelayed ? selfHostedGateway : providerGateway
    return this.#end(event)
  }

  /** Writes the record by itself where no attempt took it along. Calling it twice is harmless. */
  close(): void {
    if (this.#isOver) return
    this.#ports.sink.addLog(this.#end().text)
  }

  /** Sets the outcome of a rejected request and closes its log, unless it has ended. */
  refuse(ending: LoggedEnding): void {
    this.setOutcome(ending)
    this.close()
  }

  /** Drops the log of a repeat that received the first request's answer, which has its own log. */
  drop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#arrival.hasLog = false
    this.#ports.onDrop(this.#values.userId)
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAtMs)
  }

  /** The record. */
  #end(event?: UsageEvent): LoggedRequest {
    this.#isOver = true
    const values = this.#values
    const { outcome, error } = this.#ending
    const isCancelled = outcome === 'cancelled'
    const isError = !isCancelled && outcome !== 'ok'
    const failure = isError ? (error ?? new ApiError('internal_error')) : undefined
    values.status = isError ? 'error' : isCancelled ? 'cancelled' : 'success'
    values.statusCode = failure?.status ?? (isCancelled ? clientClosedRequest : 200)
    values.error = failure ? describe(failure) : null
    values.finishReason = failure ? null : (values.finishReason ?? this.#finishOfStream())
    // A name without a provider may be a key in the wrong place.
    if (values.provider === null)
      values.requestedModel = values.model = withoutSecrets(values.model)
    const durationMs = performance.now() - this.#startedAtMs
    values.latencyMs = Math.round(durationMs)
    this.#ports.onEnd(values, durationMs)
    this.#arrival.trace?.ended(values, event)
    if (this.#storesBodies) this.#keepBodies()
    return toLoggedRequest(values)
  }

  #finishOfStream(): string | null {
    const last = this.#last
    return finishIn(this.#beforeLast.length > 0 ? [...this.#beforeLast, ...last] : last)
  }

  #keepBodies(): void {
    const { id, userId } = this.#values
    const answer = this.#answer?.text()
    this.#ports.sink.addBodies({
      id,
      startedAt: new Date(getIdTime(id)),
      userId,
      request: this.#request,
      response: this.#response ?? (answer === undefined ? null : toStoredText(answer)),
    })
  }
}

const describe = ({ code, message }: ApiError) => ({
  type: errors[code].type,
  code,
  message: harmless(message, maxMessage),
})
