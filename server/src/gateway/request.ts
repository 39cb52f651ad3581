import type { z } from 'zod'
import type { UsageDrainPool } from './usage-drain-pool'
import type { ImagePorts } from './remote-images'
import type { Priced, PricedAttempt as TurnOf } from './candidate-runner'
import type { UnansweredCharge } from './unanswered-use'
import type { Principal } from '../auth/principal'
import type { Catalog } from '../catalog/catalog'
import type { Category, Model } from '../catalog/model'
import type { Timers } from '../platform/config/config'
import type { Egress } from '../upstream/http/egress'
import type { GatewayWay } from '../upstream/http/gateway-call'
import type { KeptAnswer } from '../idempotency/store'
import type { Credentials } from '../providers/credentials'
import type { RequestTrace } from '../request-logs/arrival'
import type { RequestLogs } from '../request-logs/request-logs'
import type { Metering } from '../metering/metering'
import type { SpendingLimits } from '../metering/spending-limits'
import type { TokenCounter } from '../metering/token-counter'
import type { Translation } from '../protocols/dialect'
import type { ConnectionRates } from '../limits/connection-rates'
import type { Credentialed, Authenticator } from '../auth/authenticator'
import type { RateLimits } from '../limits/limits'
import type { OwnerBudget } from '../limits/owner-budget'
import type { PromptSize } from '../limits/prompt-size'
import type { TokenNeed } from '../limits/token-need'
import type { Operation } from '../upstream/request-head'
import type { Candidate, Open } from '../routing/candidate'
import type { ConversationAffinity } from '../routing/conversation'
import type { PassedMember } from '../routing/collections'
import type { FailoverStep } from '../routing/dispatch'
import type { Deadline } from '../upstream/deadline'
import type { PoolTurns } from '../routing/pool-turns'
import type { Resilience } from '../routing/resilience'
import type { Routing } from '../routing/resolve-model'
import type { Identity } from '../wire/answer'
import type { ChunkStream } from '../wire/chunk-stream'
import type { EventWriter } from '../wire/event-writer'
import type { JsonObject } from '../wire/json-body'
import type { Usage } from '../wire/usage'

/** The gateway's dependencies; main.ts creates them. */
export interface GatewayPorts {
  door: Authenticator
  limits: RateLimits
  months: SpendingLimits
  logs: RequestLogs
  metering: Metering
  catalog: Catalog
  routing: Routing
  /** The rotation in pools of connections. */
  turns: PoolTurns
  /** The routes that served conversations. */
  affinity: ConversationAffinity
  connectionRates: ConnectionRates
  settings: { readonly current: Open & UnansweredCharge }
  egress: Egress
  gateways: GatewayWay
  images: ImagePorts
  credentials: Credentials
  resilience: Resilience
  counter: TokenCounter
  timers: Timers
  /** The deadlines of all running requests: a graceful shutdown ends them by these. */
  running: Set<Deadline>
  drains: UsageDrainPool
  /** The event loop's time, by owner. */
  budget: OwnerBudget
}

/** A body that was read and is a JSON object, and its length on the wire. */
export interface ReadBody {
  body: JsonObject
  bytes: number
}

/** One request to a model endpoint, as it arrived. */
export interface InboundRequest extends Credentialed {
  requestId: string
  /** The account of the sender, once that is known. */
  owner?: string | undefined
  /** The number of Tollgate instances that have forwarded it. */
  hops: number
  /** Its path, and the client that sent it. */
  endpoint: string
  userAgent: string
  /**
   * Called only after the key was accepted; `onText` gets the text as it came. A large body waits until there is room
   * for the account. Rejects with `invalid_request` and `gateway_unavailable`.
   */
  readBody: (
    limitBytes: number,
    accountId: string,
    onText?: (text: string) => void,
  ) => Promise<ReadBody>
  /**
   * Reads so many bytes more that belong to its body, once there is room for them. Rejects as `read` does, and with
   * `gateway_unavailable`. Absent where nothing but the body is read.
   */
  readMore?: <Read>(bytes: number, read: () => Promise<Read>) => Promise<Read>
  /** Set where its body is large: released once that was sent on. */
  body?: { release: () => void } | undefined
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
  /** Set where the caller is already authenticated and permitted: then no key is checked. */
  principal?: Principal | undefined
  /** The only connection that may serve it. */
  connectionId?: string | undefined
  /** Called once, however it has ended: with the usage, and the cost in nano-dollars. */
  settled?: ((usage: Usage | undefined, cost: bigint) => void) | undefined
  /** Lifetime of the prompt-cache breakpoints that are set for it, or `off`; as its caller wrote it. */
  readonly promptCaching?: string | null | undefined
  /** Set once its end will be in the log. */
  hasLog?: boolean
  /** Follows it, where it is traced. */
  trace?: RequestTrace | undefined
  /** Called when waiting for a provider begins, and when it ends. */
  waits?: (isWaiting: boolean) => void
  /** Set where a request may continue answers that are stored here. */
  history?: RequestHistory | undefined
  /** Set where a repeat of the request gets its answer; a disconnect does not end it. */
  repeatable?: Repeatable | undefined
}

/** The stored answers that a request may continue. */
export interface RequestHistory {
  /** The number of bytes of it that are to be read; 0 where there is none. */
  unreadBytes: (userId: string, body: JsonObject) => number | Promise<number>
  /** Returns the request with the history in its input. */
  expand: (userId: string, read: ReadBody) => ReadBody | Promise<ReadBody>
}

/** A request that its caller named by an `Idempotency-Key`. Source: contract 4.9. */
export interface Repeatable {
  /**
   * Undefined when this request is the one to run, else the answer of the first. Rejects with `invalid_request`,
   * `request_timeout` and `gateway_unavailable`.
   */
  claim: (userId: string, body: JsonObject) => Promise<KeptAnswer | undefined>
  /** A provider is about to be called: from here on every answer is kept. */
  dispatched: () => void
}

/** An answer on its way to the caller. */
export type Reply = WholeReply | StreamReply

/** The answer of an earlier request, for its repeat. */
export interface KeptReply {
  kind: 'kept'
  answer: KeptAnswer
}

export interface WholeReply {
  kind: 'whole'
  body: object
  /** The body is in its caller's format already, where that is not ours. */
  isTold?: boolean
  usage: Usage
  /** Nano-dollars, once the request was settled. */
  cost?: bigint
  /** Key of the provider that answered; empty where none has yet. */
  provider: string
  /** Fields of the request that were ignored. */
  omitted?: readonly string[] | undefined
  /** The output limit that was sent to the model, where that is not the caller's. */
  outputLimit?: number | undefined
}

export interface StreamReply {
  kind: 'stream'
  identity: Identity
  /** Set where its events are not the chunks themselves. */
  writer?: EventWriter
  /** Settles with the first good event, or with the failure before it. */
  opening: Promise<OpenStream>
}

export interface OpenStream {
  stream: ChunkStream
  provider: string
  /** The output limit that was sent to the model, where that is not the caller's. */
  outputLimit?: number | undefined
  /** The stream gives whole frames in its caller's format. */
  isTold?: boolean
  /** Fields of the request that are ignored. */
  omitted?: readonly string[] | undefined
  /** The usage so far; complete once the stream has ended. */
  usage: () => Usage | undefined
  /** The client has disconnected; the provider's answer is aborted, or read to the end. Once. */
  leave: () => Leave
}

/** The rest of a stream whose client has disconnected; to be disposed of when it is settled. */
export interface Leave extends Disposable {
  /** Resolves when nothing more comes; undefined where that is so at once. */
  rest: Promise<void> | undefined
  /** The provider bills nothing of it. */
  isFree: boolean
}

/** A request that was checked. */
export interface ValidatedRequest<Request> {
  ports: GatewayPorts
  call: InboundRequest
  principal: Principal
  request: Request
  /** The same request as it arrived; unknown fields are passed through. */
  body: JsonObject
  /** The body without fields that the model's price does not cover; undefined where not all candidates pay by it. */
  priced: JsonObject | undefined
  bytes: number
  model: Model
  candidates: readonly Candidate[]
  /** The model name in the request. */
  requestedModel: string
  /** Members of its collection that are skipped. */
  passedOver: readonly PassedMember[]
  /** Set where it arrived in another format: the request that it stands for. */
  translation?: Translation | undefined
}

/** A request as sent to one candidate. */
export type RequestAttempt<Request> = TurnOf<ValidatedRequest<Request>>

/** A request that may run. */
export interface RunnableRequest<Request> {
  readonly checked: ValidatedRequest<Request>
  /**
   * The client of a plain request has disconnected: returns whether the work under `deadline` continues without it,
   * as its provider bills all of it anyway.
   */
  leave: (deadline: Deadline) => boolean
  /** Tries its candidates, one after the other, for the whole of it or a part. */
  ask: <Answer>(part: FailoverStep<RequestAttempt<Request>, Answer>) => Promise<Answer>
}

/** The parts of the shared stages that are specific to one model endpoint. */
export interface Endpoint<Schema extends z.ZodType<{ model: string }>> extends Priced<
  ValidatedRequest<z.output<Schema>>
> {
  operation: Exclude<Operation, 'responses'>
  schema: Schema
  limitBytes: number
  kinds: readonly Category[]
  /** For another format than the one of `schema`: reads it first. Throws `invalid_request`. */
  translate?: (body: JsonObject) => Translation
  /** The countable content, should its size come close to the model's context. */
  size: (request: z.output<Schema>, body: JsonObject) => PromptSize
  need: (request: z.output<Schema>, bytes: number) => TokenNeed
  run: (job: RunnableRequest<z.output<Schema>>) => Promise<Reply>
}
