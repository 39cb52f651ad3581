import type { z } from 'zod'
import type { Drains } from './drains'
import type { ImagePorts } from './remote-images'
import type { Priced, Turn as TurnOf } from './turns'
import type { UnansweredCharge } from './unanswered'
import type { Principal } from '../auth/principal'
import type { Catalog } from '../catalog/catalog'
import type { Category, Model } from '../catalog/model'
import type { Timers } from '../config'
import type { Egress } from '../egress/egress'
import type { GatewayWay } from '../egress/gateway-call'
import type { KeptAnswer } from '../idempotency/store'
import type { Credentials } from '../providers/credentials'
import type { RequestTrace } from '../logs/arrival'
import type { RequestLogs } from '../logs/request-logs'
import type { Metering } from '../metering/metering'
import type { Months } from '../metering/months'
import type { TokenCounter } from '../metering/token-counter'
import type { Translation } from '../dialects/dialect'
import type { ConnectionRates } from '../policy/connection-rates'
import type { Caller, Door } from '../policy/door'
import type { Limits } from '../policy/limits'
import type { OwnerBudget } from '../policy/owner-budget'
import type { PromptSize } from '../policy/size'
import type { TokenNeed } from '../policy/token-need'
import type { Operation } from '../routing/upstream-head'
import type { Candidate, Open } from '../routing/candidate'
import type { ConversationAffinity } from '../routing/conversation'
import type { PassedMember } from '../routing/collections'
import type { Part } from '../routing/dispatch'
import type { Deadline } from '../routing/deadline'
import type { PoolTurns } from '../routing/pool-turns'
import type { Resilience } from '../routing/resilience'
import type { Routing } from '../routing/resolve'
import type { Identity } from '../wire/answer'
import type { ChunkStream } from '../wire/chunk-stream'
import type { EventWriter } from '../wire/event-writer'
import type { JsonObject } from '../wire/json-body'
import type { Usage } from '../wire/usage'

/** What the gateway works with; main.ts makes it. */
export interface Ports {
  door: Door
  limits: Limits
  months: Months
  logs: RequestLogs
  metering: Metering
  catalog: Catalog
  routing: Routing
  /** Whose turn it is in pools of connections. */
  turns: PoolTurns
  /** Who served which conversation. */
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
  /** The deadlines of all that runs: a stopping process ends it through them. */
  running: Set<Deadline>
  drains: Drains
  /** The event loop's time, by owner. */
  budget: OwnerBudget
}

/** A body that was read and is a JSON object, and its length on the wire. */
export interface ReadBody {
  body: JsonObject
  bytes: number
}

/** One request to a model endpoint, as it arrived. */
export interface Call extends Caller {
  requestId: string
  /** The account of whoever sent it, once that is known. */
  owner?: string | undefined
  /** How many Tollgates have sent it on. */
  hops: number
  /** Its path, and what sent it. */
  endpoint: string
  userAgent: string
  /**
   * Read only after the key was accepted; `onText` gets it as it came. What is large waits until there is
   * room for the account. Rejects with `invalid_request` and `gateway_unavailable`.
   */
  readBody: (
    limitBytes: number,
    accountId: string,
    onText?: (text: string) => void,
  ) => Promise<ReadBody>
  /**
   * Reads so many bytes more that belong to its body, once there is room for them. Rejects as `read` does, and
   * with `gateway_unavailable`. Absent where nothing but the body is read.
   */
  readMore?: <Read>(bytes: number, read: () => Promise<Read>) => Promise<Read>
  /** Set where its body is large: released once that was sent on. */
  body?: { release: () => void } | undefined
  /** Aborts when the caller has gone. */
  signal: AbortSignal
  /** Set where it is known who calls, and that he may: then no key is asked for. */
  principal?: Principal | undefined
  /** The only connection that may serve it. */
  connectionId?: string | undefined
  /** Told once, when it has ended however it did: what was used, and the cost in nano-dollars. */
  settled?: ((usage: Usage | undefined, cost: bigint) => void) | undefined
  /** How long breakpoints of the prompt cache last that are set for it, or `off`; as its caller wrote it. */
  readonly promptCaching?: string | null | undefined
  /** Set once its end will be in the log. */
  hasLog?: boolean
  /** Follows it, where it is traced. */
  trace?: RequestTrace | undefined
  /** Told when a provider is waited for, and when no longer. */
  waits?: (isWaiting: boolean) => void
  /** Set where a request may go on from answers that are kept here. */
  history?: RequestHistory | undefined
  /** Set where a repeat of the request is to get its answer; a caller who leaves does not end it. */
  repeatable?: Repeatable | undefined
}

/** What a request may go on from. */
export interface RequestHistory {
  /** How many bytes of it are to be read; 0 where there is none. */
  unreadBytes: (userId: string, body: JsonObject) => number | Promise<number>
  /** The request with it in its input. */
  expand: (userId: string, read: ReadBody) => ReadBody | Promise<ReadBody>
}

/** A request that its caller named by an `Idempotency-Key`. Source: contract 4.9. */
export interface Repeatable {
  /**
   * Undefined when this request is the one to run, else the answer of the first. Rejects with
   * `invalid_request`, `request_timeout` and `gateway_unavailable`.
   */
  claim: (userId: string, body: JsonObject) => Promise<KeptAnswer | undefined>
  /** A provider is about to be asked: from here on every answer is kept. */
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
  /** The body is in the words of its caller already, where those are not ours. */
  isTold?: boolean
  usage: Usage
  /** Nano-dollars, once the request was settled. */
  cost?: bigint
  /** Key of the provider that answered; empty where none has yet. */
  provider: string
  /** Fields of the request that it was answered without. */
  omitted?: readonly string[] | undefined
  /** The output limit that the model was asked for, where that is not the caller's. */
  outputLimit?: number | undefined
}

export interface StreamReply {
  kind: 'stream'
  identity: Identity
  /** Set where its events are not the chunks themselves. */
  writer?: EventWriter
  /** Settles with the first good event, or with what failed before it. */
  opening: Promise<OpenStream>
}

export interface OpenStream {
  stream: ChunkStream
  provider: string
  /** The output limit that the model was asked for, where that is not the caller's. */
  outputLimit?: number | undefined
  /** What the stream gives are whole frames in the words of its caller. */
  isTold?: boolean
  /** Fields of the request that it is answered without. */
  omitted?: readonly string[] | undefined
  /** What was used so far; all of it once the stream has ended. */
  usage: () => Usage | undefined
  /** The caller has gone; the provider is told, or its answer is read to the end. Once. */
  leave: () => Leave
}

/** What is left of a stream whose caller has gone; to be disposed of when it is settled. */
export interface Leave extends Disposable {
  /** Resolves when nothing more comes; undefined where that is so at once. */
  rest: Promise<void> | undefined
  /** The provider bills nothing of it. */
  isFree: boolean
}

/** A request that was checked. */
export interface CheckedRequest<Request> {
  ports: Ports
  call: Call
  principal: Principal
  request: Request
  /** The same request as it arrived; unknown fields travel on. */
  body: JsonObject
  /** The same without what the model's price does not cover; undefined where not all pay by it. */
  priced: JsonObject | undefined
  bytes: number
  model: Model
  candidates: readonly Candidate[]
  /** What the caller named. */
  requestedModel: string
  /** Members of its collection that are not asked. */
  passedOver: readonly PassedMember[]
  /** Set where it arrived in another format: what it stood in for. */
  translation?: Translation | undefined
}

/** A request as one candidate is asked. */
export type Turn<Request> = TurnOf<CheckedRequest<Request>>

/** A request that may run. */
export interface Job<Request> {
  readonly checked: CheckedRequest<Request>
  /**
   * The caller of a plain request has gone: whether what runs by `deadline` goes on without it, as its
   * provider bills all of it anyway.
   */
  leave: (deadline: Deadline) => boolean
  /** Asks its candidates, one after the other, for the whole of it or a part. */
  ask: <Answer>(part: Part<Turn<Request>, Answer>) => Promise<Answer>
}

/** What one model endpoint adds to the stages that all share. */
export interface Endpoint<Schema extends z.ZodType<{ model: string }>> extends Priced<
  CheckedRequest<z.output<Schema>>
> {
  operation: Exclude<Operation, 'responses'>
  schema: Schema
  limitBytes: number
  kinds: readonly Category[]
  /** For another format than the one of `schema`: reads it first. Throws `invalid_request`. */
  translate?: (body: JsonObject) => Translation
  /** What there is to count, should it come close to the model's context. */
  size: (request: z.output<Schema>, body: JsonObject) => PromptSize
  need: (request: z.output<Schema>, bytes: number) => TokenNeed
  run: (job: Job<z.output<Schema>>) => Promise<Reply>
}
