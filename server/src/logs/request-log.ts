import { finishIn, finishOf } from './finish-reason'
import type { KeptBodies } from './insert-logs'
import { KeptAnswer } from './kept-answer'
import { providerGateway, toLogRecord, type LogValues } from './log-record'
import { keptText } from './redacted'
import type { Principal } from '../auth/principal'
import { timeOfId } from '../db/id'
import { storable } from '../db/storable'
import { ApiError, errors } from '../errors'
import type { UsageEvent } from '../ledger/usage-event'
import type { JsonObject } from '../wire/json-body'

/** A request as it came. */
export interface Arrival {
  requestId: string
  /** Its path. */
  endpoint: string
  address: () => string
  userAgent: string
}

export type Caller = Pick<Principal, 'userId' | 'keyId' | 'keyPrefix'>

/** Where what is not written with an attempt goes. */
export interface LogSink {
  addLog: (record: string) => void
  addBodies: (bodies: KeptBodies) => void
}

interface Options {
  arrival: Arrival
  caller: Caller
  /** Requests of the account that run on this node, this one included. */
  concurrent: number
  keepsBodies: boolean
  sink: LogSink
  /** Told once, when the request has ended. */
  onOver: () => void
}

/** How a request ended. */
export interface LoggedEnding {
  /** `ok`, `cancelled`, or the code of an error. */
  outcome: string
  error?: ApiError | undefined
}

const mostName = 256
const mostMessage = 1000
const mostAgent = 300
const mostMetadata = 10_000
/** What proxies call a request whose caller left. */
const clientGone = 499
const whole = 1_000_000n

const clean = (text: string, most: number): string =>
  storable(text.length > most ? text.slice(0, most) : text)

/**
 * What is known of one request for its log. It ends once: as the record that its last attempt takes
 * along to the journal, or, where nobody was asked, by itself.
 */
export class RequestLog {
  readonly #options: Options
  readonly #startedAtMs = performance.now()
  readonly #ipAddress: string
  #requestedModel = ''
  #streamed = false
  #user: string | null = null
  #metadata: JsonObject | null = null
  #firstTokenMs: number | null = null
  #finish: string | null = null
  #ending: LoggedEnding = { outcome: 'ok' }
  /** The last of a stream: its end says why it ended. */
  #last: readonly string[] = []
  #beforeLast: readonly string[] = []
  #request: string | null = null
  #response: string | null = null
  #answer: KeptAnswer | undefined
  #isOver = false

  constructor(options: Options) {
    this.#options = options
    // Of a caller who has left it is not known any more.
    this.#ipAddress = options.arrival.address()
  }

  /** Gets the text of the body; undefined where bodies are not kept. */
  get keepRequest(): ((text: string) => void) | undefined {
    if (!this.#options.keepsBodies) return undefined
    return (text) => {
      this.#request = keptText(text)
    }
  }

  /** The body was read; what is in it was not checked. */
  read(body: JsonObject): void {
    const { model } = body
    if (typeof model === 'string') this.#requestedModel = clean(model, mostName)
    this.#streamed = body['stream'] === true
  }

  /** The body was checked, and is a request in our format. */
  checked(body: JsonObject): void {
    const { user, metadata } = body
    this.#streamed = body['stream'] === true
    if (typeof user === 'string') this.#user = clean(user, 512)
    if (typeof metadata === 'object' && metadata !== null) this.#metadata = kept(metadata)
  }

  /** The first of a stream has come. */
  opened(): void {
    this.#firstTokenMs = this.#elapsedMs()
  }

  /** A whole answer, and the same as its caller gets it. */
  answered(body: object, told: object): void {
    this.#finish = finishOf(body)
    if (this.#options.keepsBodies) this.#response = keptText(JSON.stringify(told))
  }

  /** Some of a stream: chunks, or frames where it is told already. */
  seen(pieces: readonly string[], isTold: boolean): void {
    if (pieces.length === 0) return
    this.#beforeLast = this.#last
    this.#last = pieces
    if (!this.#options.keepsBodies) return
    this.#answer ??= new KeptAnswer()
    this.#answer.add(pieces, isTold)
  }

  /** How the request ends; its record follows. */
  ending(ending: LoggedEnding): void {
    if (!this.#isOver) this.#ending = ending
  }

  /** The record of a request whose last attempt is about to be settled; undefined after the end. */
  record(event: UsageEvent): string | undefined {
    if (this.#isOver) return undefined
    const { tokens, cost } = event
    const record = this.#write({
      model: event.model,
      provider: event.provider,
      inputTokens: tokens.input + tokens.cachedInput + tokens.cacheWrite + tokens.audioInput,
      outputTokens: tokens.output + tokens.reasoning + tokens.audioOutput,
      estimated: event.estimated,
      cost,
      platformFee: feeOf(event),
      billingMode: event.billingMode,
      accountId: event.accountId,
      organizationId: event.organizationId,
      connectionId: event.connectionId,
      gatewayType: providerGateway,
    })
    this.#end()
    return record
  }

  /** Where no attempt took the record along, it goes by itself. Twice is harmless. */
  close(): void {
    if (this.#isOver) return
    this.#options.sink.addLog(this.#write(nobody))
    this.#end()
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
    this.#options.onOver()
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAtMs)
  }

  #write(served: Served): string {
    const { arrival, caller, concurrent } = this.#options
    const { outcome, error } = this.#ending
    const isCancelled = outcome === 'cancelled'
    const isError = !isCancelled && outcome !== 'ok'
    const failure = isError ? (error ?? new ApiError('internal_error')) : undefined
    const finish = this.#finish ?? finishIn([...this.#beforeLast, ...this.#last])
    return toLogRecord({
      id: arrival.requestId,
      userId: caller.userId,
      keyId: caller.keyId,
      keyPrefix: caller.keyPrefix,
      endpoint: arrival.endpoint,
      streamed: this.#streamed,
      requestedModel: this.#requestedModel,
      status: statusOf(outcome),
      statusCode: failure?.status ?? (isCancelled ? clientGone : 200),
      error: failure ? describe(failure) : null,
      finishReason: isError ? null : finish,
      latencyMs: this.#elapsedMs(),
      firstTokenMs: this.#firstTokenMs,
      concurrent,
      callerUser: this.#user,
      metadata: this.#metadata,
      ipAddress: this.#ipAddress,
      userAgent: clean(arrival.userAgent, mostAgent),
      ...served,
      model: served.model ?? this.#requestedModel,
    })
  }

  #end(): void {
    this.#isOver = true
    const { arrival, caller, keepsBodies, sink, onOver } = this.#options
    onOver()
    if (!keepsBodies) return
    const answer = this.#answer?.text()
    sink.addBodies({
      id: arrival.requestId,
      startedAt: new Date(timeOfId(arrival.requestId)),
      userId: caller.userId,
      request: this.#request,
      response: this.#response ?? (answer === undefined ? null : keptText(answer)),
    })
  }
}

type ServedColumns =
  | 'provider'
  | 'inputTokens'
  | 'outputTokens'
  | 'estimated'
  | 'cost'
  | 'platformFee'
  | 'billingMode'
  | 'accountId'
  | 'organizationId'
  | 'connectionId'
  | 'gatewayType'

interface Served extends Pick<LogValues, ServedColumns> {
  model: string | undefined
}

const nobody: Served = {
  model: undefined,
  provider: null,
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
}

function statusOf(outcome: string): LogValues['status'] {
  if (outcome === 'ok') return 'success'
  return outcome === 'cancelled' ? 'cancelled' : 'error'
}

const describe = ({ code, message }: ApiError) => ({
  type: errors[code].type,
  code,
  message: clean(message, mostMessage),
})

/** The platform's part of what was charged. Source: api.md 21.3. */
function feeOf({ billingMode, cost, feeMillionths }: UsageEvent): bigint {
  if (billingMode === 'byok' || billingMode === 'org_pays') return cost
  return (cost * BigInt(feeMillionths ?? 0)) / whole
}

/** As it is, unless PostgreSQL would refuse it; what is too large is left out. */
function kept(metadata: object): JsonObject | null {
  const text = JSON.stringify(metadata)
  if (text.length > mostMetadata) return null
  if (!/\\u(0000|d[89a-f])/i.test(text)) return { ...metadata }
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      clean(name, mostName),
      typeof value === 'string' ? clean(value, mostMetadata) : null,
    ]),
  )
}
