import type { Arrival, Caller } from './arrival'
import { clean, harmless, keptMetadata, maxName } from './caller-text'
import { finishIn, finishOf } from './finish-reason'
import type { KeptBodies } from './insert-logs'
import { KeptAnswer } from './kept-answer'
import {
  noCache,
  providerGateway,
  selfHostedGateway,
  toLogRecord,
  type LogValues,
} from './log-record'
import { keptText, withoutSecrets } from './redacted'
import { timeOfId } from '../db/id'
import { ApiError, errors } from '../errors'
import { costToCaller, tokensRead, tokensWritten, type UsageEvent } from '../ledger/usage-event'
import type { JsonObject } from '../wire/json-body'

/** Where what is not written with an attempt goes. */
export interface LogSink {
  addLog: (record: string) => void
  addBodies: (bodies: KeptBodies) => void
}

/** What the logs of all requests have in common. */
export interface LogPorts {
  sink: LogSink
  /** Whether the operator allows bodies to be kept. */
  allowsBodies: () => boolean
  /** A request of an account begins. Returns how many of it run on this node, this one included. */
  begun: (userId: string) => number
  /** It has ended; told once, with milliseconds. */
  over: (values: LogValues, tookMs: number) => void
  /** It was a repeat, and is nobody's concern any more. */
  dropped: (userId: string) => void
}

/** How a request ended. */
export interface LoggedEnding {
  /** `ok`, `cancelled`, or the code of an error. */
  outcome: string
  error?: ApiError | undefined
}

const mostMessage = 1000
const mostAgent = 300
/** What proxies call a request whose caller left. */
const clientGone = 499
const whole = 1_000_000n
const well: LoggedEnding = { outcome: 'ok' }
const nothing: readonly string[] = []

/**
 * What is known of one request for its log. It ends once: as the record that its last attempt takes
 * along to the journal, or, where nobody was asked, by itself.
 */
export class RequestLog {
  readonly #ports: LogPorts
  readonly #arrival: Arrival
  readonly #startedAtMs = performance.now()
  readonly #keepsBodies: boolean
  /** What its record will have, as far as it is known. */
  readonly #values: LogValues
  #ending: LoggedEnding = well
  /** The last of a stream: its end says why it ended. */
  #last: readonly string[] = nothing
  #beforeLast: readonly string[] = nothing
  #request: string | null = null
  #response: string | null = null
  #answer: KeptAnswer | undefined
  #isOver = false
  #isRelayed = false

  constructor(ports: LogPorts, arrival: Arrival, caller: Caller) {
    this.#ports = ports
    this.#arrival = arrival
    arrival.hasLog = true
    this.#keepsBodies = caller.logBodies && ports.allowsBodies()
    this.#values = valuesOf(arrival, caller, ports.begun(caller.userId))
  }

  /** Gets the text of the body; undefined where bodies are not kept. */
  get keepRequest(): ((text: string) => void) | undefined {
    return this.#keepsBodies ? this.#requestKeeper() : undefined
  }

  #requestKeeper(): (text: string) => void {
    return (text) => {
      this.#request = keptText(text)
    }
  }

  /** The body was read; what is in it was not checked. */
  read(body: JsonObject): void {
    const { model } = body
    const values = this.#values
    if (typeof model === 'string') values.requestedModel = values.model = clean(model, maxName)
    values.streamed = body['stream'] === true
  }

  /** The body was checked, and is a request in our format. */
  checked(body: JsonObject): void {
    const { user, metadata } = body
    const values = this.#values
    values.streamed = body['stream'] === true
    if (typeof user === 'string') values.callerUser = harmless(user, 512)
    if (typeof metadata === 'object' && metadata !== null) values.metadata = keptMetadata(metadata)
  }

  /** The first of a stream has come. */
  opened(): void {
    this.#values.firstTokenMs = this.#elapsedMs()
  }

  /** A whole answer, and the same as its caller gets it. */
  answered(body: object, told: object): void {
    this.#values.finishReason = finishOf(body)
    if (this.#keepsBodies) this.#response = keptText(JSON.stringify(told))
  }

  /** Some of a stream: chunks, or frames where it is told already. */
  seen(pieces: readonly string[], isTold: boolean): void {
    if (pieces.length === 0) return
    this.#beforeLast = this.#last
    this.#last = pieces
    if (!this.#keepsBodies) return
    this.#answer ??= new KeptAnswer()
    this.#answer.add(pieces, isTold)
  }

  /** How the request ends; its record follows. */
  ending(ending: LoggedEnding): void {
    if (!this.#isOver) this.#ending = ending
  }

  /** An attempt begins, after one that failed, `by` a self-hosted gateway or null. */
  asked(event: UsageEvent, failed: UsageEvent | undefined, by: string | null = null): void {
    this.#isRelayed = by !== null
    this.#arrival.trace?.asked(event, failed)
  }

  /**
   * The record of a request whose last attempt is about to be settled; undefined after the end.
   * `cacheSavings`: what a cache saved of its price, in nano-dollars.
   */
  record(event: UsageEvent, cacheSavings = 0n): string | undefined {
    if (this.#isOver) return undefined
    const { tokens } = event
    const values = this.#values
    values.model = event.model
    values.provider = event.provider
    values.inputTokens = tokensRead(tokens)
    values.outputTokens = tokensWritten(tokens)
    values.cachedTokens = tokens.cachedInput
    values.cacheWriteTokens = tokens.cacheWrite + tokens.cacheWriteLong
    values.cacheSavings = cacheSavings
    values.estimated = event.estimated
    values.cost = costToCaller(event)
    values.platformFee = feeOf(event)
    values.billingMode = event.billingMode
    values.accountId = event.accountId
    values.organizationId = event.organizationId
    values.connectionId = event.connectionId
    values.gatewayType = this.#isRelayed ? selfHostedGateway : providerGateway
    return this.#end(event)
  }

  /** Where no attempt took the record along, it goes by itself. Twice is harmless. */
  close(): void {
    if (this.#isOver) return
    this.#ports.sink.addLog(this.#end())
  }

  /** The request was refused. The same, unless it has ended. */
  refuse(ending: LoggedEnding): void {
    this.ending(ending)
    this.close()
  }

  /** A repeat that got the answer of the first, whose log there is. */
  drop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#arrival.hasLog = false
    this.#ports.dropped(this.#values.userId)
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAtMs)
  }

  /** The record. */
  #end(event?: UsageEvent): string {
    this.#isOver = true
    const values = this.#values
    const { outcome, error } = this.#ending
    const isCancelled = outcome === 'cancelled'
    const isError = !isCancelled && outcome !== 'ok'
    const failure = isError ? (error ?? new ApiError('internal_error')) : undefined
    values.status = statusOf(outcome)
    values.statusCode = failure?.status ?? (isCancelled ? clientGone : 200)
    values.error = failure ? describe(failure) : null
    values.finishReason = failure ? null : (values.finishReason ?? this.#finishOfStream())
    // A name that means nothing may be a key in the wrong place.
    if (values.provider === null)
      values.requestedModel = values.model = withoutSecrets(values.model)
    const tookMs = performance.now() - this.#startedAtMs
    values.latencyMs = Math.round(tookMs)
    this.#ports.over(values, tookMs)
    this.#arrival.trace?.ended(values, event)
    if (this.#keepsBodies) this.#keepBodies()
    return toLogRecord(values)
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
      startedAt: new Date(timeOfId(id)),
      userId,
      request: this.#request,
      response: this.#response ?? (answer === undefined ? null : keptText(answer)),
    })
  }
}

/** As long as nobody was asked. */
const valuesOf = (arrival: Arrival, caller: Caller, concurrent: number): LogValues => ({
  id: arrival.requestId,
  userId: caller.userId,
  keyId: caller.keyId,
  keyPrefix: caller.keyPrefix,
  endpoint: arrival.endpoint,
  streamed: false,
  requestedModel: '',
  model: '',
  provider: null,
  status: 'success',
  statusCode: 200,
  error: null,
  finishReason: null,
  latencyMs: 0,
  firstTokenMs: null,
  inputTokens: 0,
  outputTokens: 0,
  estimated: false,
  cost: 0n,
  platformFee: 0n,
  billingMode: null,
  accountId: null,
  organizationId: null,
  connectionId: null,
  gatewayType: null,
  concurrent,
  callerUser: null,
  metadata: null,
  // Of a caller who has left it is not known any more.
  ipAddress: arrival.address(),
  userAgent: harmless(arrival.userAgent, mostAgent),
  ...noCache,
})

function statusOf(outcome: string): LogValues['status'] {
  if (outcome === 'ok') return 'success'
  return outcome === 'cancelled' ? 'cancelled' : 'error'
}

const describe = ({ code, message }: ApiError) => ({
  type: errors[code].type,
  code,
  message: harmless(message, mostMessage),
})

/** The platform's part of what was charged. Source: contract 11.1. */
function feeOf({ billingMode, cost, feeMillionths }: UsageEvent): bigint {
  if (billingMode === 'byok' || billingMode === 'org_pays') return cost
  return feeMillionths ? (cost * BigInt(feeMillionths)) / whole : 0n
}
