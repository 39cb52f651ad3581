import type { ValidatedRequest, RunnableRequest, OpenStream, RequestAttempt } from './request'
import { ClientDisconnect } from './client-disconnect'
import { getLoweredOutput } from './output-limit'
import { pricedUnits } from '../catalog/priced-units'
import { estimatePrompt, estimateUsage, estimateOutputTokens } from '../metering/estimate'
import { outputLimitOfUnknown } from '../metering/volume'
import { generateIdBody } from '../platform/db/id'
import type { NativePassthrough } from '../providers/adapter'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import type { RelayOptions } from '../providers/provider'
import type { ErrorSource } from '../providers/upstream-error'
import type { Attempt, OutgoingRequest } from '../upstream/attempt'
import { Deadline } from '../upstream/deadline'
import type { Loss } from '../upstream/classify-loss'
import type { FailoverStep } from '../routing/dispatch'
import type { OutputAllowance } from '../upstream/stream-bounds'
import { UpstreamStream } from '../upstream/stream'
import { answerId, type Identity } from '../wire/answer'
import type { CustomNames } from '../wire/custom-calls'
import type { JsonObject } from '../wire/json-body'
import type { TextSize } from '../wire/text-size'
import type { Usage } from '../wire/usage'

/** The fields of a request that decide how its answer is relayed. */
export interface Relayable {
  stream?: boolean | null | undefined
  stream_options?: { include_usage?: boolean | null | undefined } | null | undefined
}

/** The head of every chunk or answer of a request. */
export const identityOf = (
  checked: ValidatedRequest<unknown>,
  object: Identity['object'],
): Identity => ({
  id: answerId(checked.call.requestId, object === 'text_completion' ? 'cmpl' : 'chatcmpl'),
  object,
  created: Math.floor(Date.now() / 1000),
  model: checked.model.id,
})

/** The same head with the serving model, which in a collection may be another than the first. */
const servedBy = ({ model }: RequestAttempt<unknown>, identity: Identity): Identity =>
  model.id === identity.model ? identity : { ...identity, model: model.id }

type Answering = Pick<RequestAttempt<unknown>, 'model' | 'body' | 'candidate'>

/** The provider that answers an attempt, and the request that it received. */
export class TurnSource implements ErrorSource {
  readonly provider: string
  readonly secret: string | null
  readonly textField: ErrorSource['textField']
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
  readonly #body: JsonObject

  constructor({ model, body, candidate }: Answering, textField: ErrorSource['textField']) {
    this.provider = candidate.provider.key
    this.secret = candidate.connection.secret
    this.textField = textField
    this.contextLength = model.contextLength
    this.maxOutputTokens = model.maxOutputTokens
    this.#body = body
  }

  wasSent(field: string): boolean {
    return field in this.#body
  }
}

/** Rendering of the answers to a request for its caller, whichever provider gives them. */
export interface RenderOptions {
  identity: Identity
  legacyFunctions: boolean
  /** Undefined for the caller's own choice. */
  wantsUsage?: boolean
}

const newCallId = () => `call_${generateIdBody()}`

/** The properties of an attempt that a relayed answer depends on. */
export class Relay implements RelayRequest {
  readonly #turn: RequestAttempt<Relayable>
  readonly source: ErrorSource
  readonly identity: Identity
  readonly legacyFunctions: boolean
  readonly wantsUsage: boolean
  readonly newCallId = newCallId
  readonly callerNames: RelayRequest['callerNames']

  constructor(
    turn: RequestAttempt<Relayable>,
    { source, callerNames }: Pick<Prepared, 'source' | 'callerNames'>,
    telling: RenderOptions,
  ) {
    const { stream_options: options } = turn.checked.request
    this.#turn = turn
    this.source = source
    this.callerNames = callerNames
    this.identity = servedBy(turn, telling.identity)
    this.legacyFunctions = telling.legacyFunctions
    this.wantsUsage = telling.wantsUsage ?? options?.include_usage === true
  }

  get units(): RelayRequest['units'] {
    return pricedUnits(this.#turn.model.pricing)
  }

  get options(): RelayOptions {
    return this.#turn.candidate.provider.options
  }

  get answers(): number {
    const { n } = this.#turn.body
    return typeof n === 'number' ? n : 1
  }

  estimate(output: TextSize): Usage {
    return estimateUsage({ promptTokens: estimatePrompt(this.#turn.body), output })
  }

  hiddenTokens({ reasoning }: Usage): number {
    const { model, candidate, body } = this.#turn
    const { n } = body
    const most = (model.maxOutputTokens ?? outputLimitOfUnknown) * (typeof n === 'number' ? n : 1)
    if (model.capabilities.reasoning) return most
    // The payer of a provider accepts its reported count; other callers need not, of a model that does not think.
    const isPayers = candidate.connection.owner === null || candidate.billing.mode === 'byok'
    return isPayers ? Math.min(reasoning, most) : 0
  }
}

/** The deadline of a plain request; a disconnect ends it too, unless the client may repeat the request. */
export function createAnswerDeadline({
  call,
  ports,
}: Pick<ValidatedRequest<unknown>, 'call' | 'ports'>): Deadline {
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.running)
  if (!call.repeatable) deadline.follow(call.signal)
  return deadline
}

/** The deadline where a provider may be called that bills an answer even if the client disconnects. */
export function createJobDeadline(
  job: Pick<RunnableRequest<unknown>, 'checked' | 'leave'>,
): Deadline {
  const { call, ports } = job.checked
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.running)
  if (!call.repeatable) deadline.follow(call.signal, () => job.leave(deadline))
  return deadline
}

/**
 * Reports to an attempt that its request came to no answer, and its use until then. `usage` gets the number of bytes
 * of an answer that was too long.
 */
export const lostBy =
  ({ unanswered, candidate: { provider } }: Lossy, usage: (bytes: number) => Usage) =>
  (loss: Loss, bytes: number): void =>
    unanswered.lost({ loss, provider, usage: () => usage(bytes) })

type Lossy = Pick<RequestAttempt<unknown>, 'unanswered' | 'candidate'>

/** The usage of a provider that read a request without answering it, and wrote an answer of so many bytes. */
export const promptUsage = (body: JsonObject, bytes: number): Usage => ({
  ...estimateUsage({ promptTokens: estimatePrompt(body) }),
  output: estimateOutputTokens(bytes, body),
})

/** The properties that differ from candidate to candidate. */
export interface Prepared extends OutgoingRequest {
  /** Name of a tool at the provider -> the caller's name of it, where they differ. */
  callerNames?: ReadonlyMap<string, string> | undefined
  /** The caller's custom tools that functions replace, by their names. */
  customTools?: CustomNames | undefined
  /** Set where the caller's request is passed through in its own format. */
  own?: NativePassthrough | undefined
  /** Fields of the request that are ignored; the caller is notified of them. */
  omitted?: readonly string[] | undefined
}

/** The part of opening a stream that is specific to one endpoint, or to one of its prompts. */
export interface StreamPlan<Request> {
  prepare(turn: RequestAttempt<Request>): Prepared
  /** The part of the attempt's body to send, where that is not all of it. */
  asked?(turn: RequestAttempt<Request>): JsonObject
  relay(turn: RequestAttempt<Request>, prepared: Prepared): RelayedStream
  allowance(turn: RequestAttempt<Request>): OutputAllowance | undefined
  /** Runs before the attempt at the candidate is recorded. */
  before?: ((turn: RequestAttempt<Request>) => Promise<void>) | undefined
}

/** Opens a stream at the first candidate that gives one. */
export const openStream = <Request>(
  job: RunnableRequest<Request>,
  plan: StreamPlan<Request>,
): Promise<OpenStream> => job.ask(new Opening(plan))

class Opening<Request> implements FailoverStep<RequestAttempt<Request>, OpenStream> {
  readonly #plan: StreamPlan<Request>
  readonly before: StreamPlan<Request>['before']

  constructor(plan: StreamPlan<Request>) {
    this.#plan = plan
    this.before = plan.before
  }

  async attempt(turn: RequestAttempt<Request>): Promise<OpenStream> {
    const { candidate, checked } = turn
    const prepared = this.#plan.prepare(turn)
    const { drains, timers, running, resilience } = checked.ports
    const { streamMs: totalMs, firstByteMs, idleMs } = timers
    const onPassed = (reason: Error): boolean => leaving.passed(reason)
    const deadline = new Deadline({ totalMs, firstByteMs, idleMs, onPassed }, running)
    const { signal } = checked.call
    const { accountId } = checked.principal
    const policy = candidate.provider.abort
    const leaving = new ClientDisconnect({ signal, deadline, policy, drains, accountId })
    const begun = resilience.begin(candidate, accountId)
    const onBroken = (thrown: unknown) => resilience.ended(begun, thrown)
    const allowance = this.#plan.allowance(turn)
    try {
      const relayed = this.#plan.relay(turn, prepared)
      const onLost = lostBy(turn, (bytes) =>
        promptUsage(this.#plan.asked?.(turn) ?? turn.body, bytes),
      )
      const drain = () => leaving.drain
      const attempt: Attempt = {
        turn,
        sent: prepared,
        deadline,
        allowance,
        onLost,
        onBroken,
        drain,
      }
      const stream = await UpstreamStream.open(attempt, relayed)
      leaving.opened(stream)
      return {
        stream,
        provider: candidate.provider.key,
        outputLimit: getLoweredOutput(turn),
        isTold: prepared.own !== undefined,
        omitted: prepared.omitted,
        usage: () => relayed.usage(),
        leave: () => leaving.leave(stream),
      }
    } catch (thrown) {
      leaving[Symbol.dispose]()
      deadline[Symbol.dispose]()
      throw thrown
    }
  }
}
