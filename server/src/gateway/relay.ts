import type { CheckedRequest, Job, OpenStream, Turn } from './job'
import { Leaving } from './leaving'
import { estimatePrompt, estimateUsage } from '../metering/estimate'
import { newIdBody } from '../db/id'
import type { OwnFormat } from '../providers/adapter'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import type { Source } from '../providers/upstream-error'
import type { Allowance, Attempt, Operation, Sent } from '../routing/attempt'
import { Deadline } from '../routing/deadline'
import { UpstreamStream } from '../routing/upstream-stream'
import { answerId, type Identity } from '../wire/answer'
import { ClientGone } from '../wire/chunk-stream'

/** The fields of a request that decide how its answer is relayed. */
export interface Relayable {
  stream?: boolean | null | undefined
  stream_options?: { include_usage?: boolean | null | undefined } | null | undefined
}

/** The head of every chunk or answer of a job. */
export const identityOf = (job: CheckedRequest<unknown>, object: Identity['object']): Identity => ({
  id: answerId(job.call.requestId, object === 'text_completion' ? 'cmpl' : 'chatcmpl'),
  object,
  created: Math.floor(Date.now() / 1000),
  model: job.model.id,
})

/** The same with the model that serves, which of a collection may be another than the first. */
const servedBy = ({ model }: Turn<unknown>, identity: Identity): Identity =>
  model.id === identity.model ? identity : { ...identity, model: model.id }

export const sourceOf = (
  { model, body, candidate }: Pick<Turn<unknown>, 'model' | 'body' | 'candidate'>,
  textField: Source['textField'],
): Source => ({
  provider: candidate.provider.key,
  secret: candidate.connection.secret,
  textField,
  wasSent: (field) => field in body,
  contextLength: model.contextLength,
  maxOutputTokens: model.maxOutputTokens,
})

export interface RelayOf {
  source: Source
  identity: Identity
  legacyFunctions: boolean
}

export const relayRequestOf = (turn: Turn<Relayable>, relay: RelayOf): RelayRequest => ({
  identity: servedBy(turn, relay.identity),
  source: relay.source,
  options: turn.candidate.provider.options,
  wantsUsage: turn.request.stream_options?.include_usage === true,
  legacyFunctions: relay.legacyFunctions,
  keepsText: turn.translation !== undefined,
  newCallId: () => `call_${newIdBody()}`,
  estimate: (output) => estimateUsage({ promptTokens: estimatePrompt(turn.body), output }),
})

/** For the whole of a plain request; a caller who leaves ends it too, unless he may ask again. */
export function wholeDeadline({
  call,
  ports,
}: Pick<CheckedRequest<unknown>, 'call' | 'ports'>): Deadline {
  const deadline = new Deadline({ totalMs: ports.timers.requestMs }, ports.running)
  return call.repeatable ? deadline : followed(deadline, call.signal)
}

function followed(deadline: Deadline, signal: AbortSignal): Deadline {
  const leave = () => deadline.cancel(new ClientGone())
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return deadline
}

/** What differs from candidate to candidate. */
export interface Prepared extends Sent {
  source: Source
  operation: Operation
  /** Set where the caller's request is passed on in the format that it came in. */
  own?: OwnFormat | undefined
}

interface StreamPlan<Request> {
  prepare: (turn: Turn<Request>) => Prepared
  relay: (turn: Turn<Request>, prepared: Prepared) => RelayedStream
  allowance: (turn: Turn<Request>) => Allowance | undefined
  /** What has to be done before it is written down that the turn's candidate is asked. */
  before?: ((turn: Turn<Request>) => Promise<void>) | undefined
}

/** Opens a stream at the first candidate that gives one. */
export const openStream = <Request>(
  job: Job<Request>,
  plan: StreamPlan<Request>,
): Promise<OpenStream> => job.turns.ask((turn) => openAt(turn, plan), plan.before)

async function openAt<Request>(
  turn: Turn<Request>,
  plan: StreamPlan<Request>,
): Promise<OpenStream> {
  const { candidate, call, ports } = turn
  const prepared = plan.prepare(turn)
  const { egress, credentials, drains, timers, running, resilience } = ports
  const { streamMs: totalMs, firstByteMs, idleMs } = timers
  const onPassed = (reason: Error): boolean => leaving.passed(reason)
  const deadline = new Deadline({ totalMs, firstByteMs, idleMs, onPassed }, running)
  const { signal, hops } = call
  const leaving = new Leaving({ signal, deadline, policy: candidate.provider.abort, drains })
  const since = resilience.enter(candidate)
  const onBroken = (thrown: unknown) => resilience.ended(candidate, since, thrown)
  const way = { candidate, deadline, egress, credentials, hops, onBroken }
  const attempt: Attempt = { ...prepared, ...way, allowance: plan.allowance(turn) }
  try {
    const relayed = plan.relay(turn, prepared)
    const stream = await UpstreamStream.open(attempt, relayed)
    leaving.opened(stream)
    return {
      stream,
      provider: candidate.provider.key,
      isTold: prepared.own !== undefined,
      usage: () => relayed.usage(),
      leave: () => leaving.leave(stream),
    }
  } catch (thrown) {
    leaving[Symbol.dispose]()
    deadline[Symbol.dispose]()
    throw thrown
  }
}
