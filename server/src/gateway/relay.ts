import type { CheckedRequest, Job, OpenStream, Turn } from './job'
import { Leaving } from './leaving'
import { loweredOutput } from './lowered-output'
import { pricedUnits } from '../catalog/priced-units'
import { estimatePrompt, estimateUsage, roughOutputTokens } from '../metering/estimate'
import { outputLimitOfUnknown } from '../metering/volume'
import { newIdBody } from '../db/id'
import type { OwnFormat } from '../providers/adapter'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import type { RelayOptions } from '../providers/provider'
import type { Source } from '../providers/upstream-error'
import type { Attempt, Outgoing } from '../routing/attempt'
import { Deadline } from '../routing/deadline'
import type { Loss } from '../routing/loss'
import type { Part } from '../routing/dispatch'
import type { Allowance } from '../routing/stream-bounds'
import { UpstreamStream } from '../routing/upstream-stream'
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
  checked: CheckedRequest<unknown>,
  object: Identity['object'],
): Identity => ({
  id: answerId(checked.call.requestId, object === 'text_completion' ? 'cmpl' : 'chatcmpl'),
  object,
  created: Math.floor(Date.now() / 1000),
  model: checked.model.id,
})

/** The same with the model that serves, which of a collection may be another than the first. */
const servedBy = ({ model }: Turn<unknown>, identity: Identity): Identity =>
  model.id === identity.model ? identity : { ...identity, model: model.id }

type Answering = Pick<Turn<unknown>, 'model' | 'body' | 'candidate'>

/** Who answers a turn, and what he was sent. */
export class TurnSource implements Source {
  readonly provider: string
  readonly secret: string | null
  readonly textField: Source['textField']
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
  readonly #body: JsonObject

  constructor({ model, body, candidate }: Answering, textField: Source['textField']) {
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

/** How the answers to a request are told to its caller, whoever gives them. */
export interface Telling {
  identity: Identity
  legacyFunctions: boolean
  /** Undefined for what the caller asked for. */
  wantsUsage?: boolean
}

const newCallId = () => `call_${newIdBody()}`

/** What a relayed answer needs to know of the turn that asked for it. */
export class Relay implements RelayRequest {
  readonly #turn: Turn<Relayable>
  readonly source: Source
  readonly identity: Identity
  readonly legacyFunctions: boolean
  readonly wantsUsage: boolean
  readonly newCallId = newCallId
  readonly callerNames: RelayRequest['callerNames']

  constructor(
    turn: Turn<Relayable>,
    { source, callerNames }: Pick<Prepared, 'source' | 'callerNames'>,
    telling: Telling,
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
    // Who pays its provider believes what it names; nobody else need believe a model that does not think.
    const isPayers = candidate.connection.owner === null || candidate.billing.mode === 'byok'
    return isPayers ? Math.min(reasoning, most) : 0
  }
}

/** For the whole of a plain request; a caller who leaves ends it too, unless he may ask again. */
export function wholeDeadline({
  call,
  ports,
}: Pick<CheckedRequest<unknown>, 'call' | 'ports'>): Deadline {
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.running)
  if (!call.repeatable) deadline.follow(call.signal)
  return deadline
}

/** The same where a provider may be asked that bills an answer whether it is waited for or not. */
export function jobDeadline(job: Pick<Job<unknown>, 'checked' | 'leave'>): Deadline {
  const { call, ports } = job.checked
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.running)
  if (!call.repeatable) deadline.follow(call.signal, () => job.leave(deadline))
  return deadline
}

/**
 * Tells a turn that what was sent for it came to no answer, and what that had used. `usage` gets how many
 * bytes there were of an answer that was too long.
 */
export const lostBy =
  ({ unanswered, candidate: { provider } }: Lossy, usage: (bytes: number) => Usage) =>
  (loss: Loss, bytes: number): void =>
    unanswered.lost({ loss, provider, usage: () => usage(bytes) })

type Lossy = Pick<Turn<unknown>, 'unanswered' | 'candidate'>

/** What a provider read of a request that it did not answer, and wrote of an answer of so many bytes. */
export const promptUsage = (body: JsonObject, bytes: number): Usage => ({
  ...estimateUsage({ promptTokens: estimatePrompt(body) }),
  output: roughOutputTokens(bytes, body),
})

/** What differs from candidate to candidate. */
export interface Prepared extends Outgoing {
  /** Name of a tool at the provider -> name that the caller gave it, where they differ. */
  callerNames?: ReadonlyMap<string, string> | undefined
  /** The caller's custom tools for which functions stand, by their names. */
  customTools?: CustomNames | undefined
  /** Set where the caller's request is passed on in the format that it came in. */
  own?: OwnFormat | undefined
  /** Fields of the request that are answered without; their caller is told. */
  omitted?: readonly string[] | undefined
}

/** What one endpoint, or one of its prompts, adds to the opening of a stream. */
export interface StreamPlan<Request> {
  prepare(turn: Turn<Request>): Prepared
  /** What of the turn's body is asked for, where that is not all of it. */
  asked?(turn: Turn<Request>): JsonObject
  relay(turn: Turn<Request>, prepared: Prepared): RelayedStream
  allowance(turn: Turn<Request>): Allowance | undefined
  /** What has to be done before it is written down that the turn's candidate is asked. */
  before?: ((turn: Turn<Request>) => Promise<void>) | undefined
}

/** Opens a stream at the first candidate that gives one. */
export const openStream = <Request>(
  job: Job<Request>,
  plan: StreamPlan<Request>,
): Promise<OpenStream> => job.ask(new Opening(plan))

class Opening<Request> implements Part<Turn<Request>, OpenStream> {
  readonly #plan: StreamPlan<Request>
  readonly before: StreamPlan<Request>['before']

  constructor(plan: StreamPlan<Request>) {
    this.#plan = plan
    this.before = plan.before
  }

  async attempt(turn: Turn<Request>): Promise<OpenStream> {
    const { candidate, checked } = turn
    const prepared = this.#plan.prepare(turn)
    const { drains, timers, running, resilience } = checked.ports
    const { streamMs: totalMs, firstByteMs, idleMs } = timers
    const onPassed = (reason: Error): boolean => leaving.passed(reason)
    const deadline = new Deadline({ totalMs, firstByteMs, idleMs, onPassed }, running)
    const { signal } = checked.call
    const { accountId } = checked.principal
    const policy = candidate.provider.abort
    const leaving = new Leaving({ signal, deadline, policy, drains, accountId })
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
        outputLimit: loweredOutput(turn),
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
