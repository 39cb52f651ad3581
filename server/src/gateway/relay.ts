import type { Job, OpenStream } from './job'
import { Leaving } from './leaving'
import { estimatePrompt, estimateUsage } from '../metering/estimate'
import { newIdBody } from '../db/id'
import type { RelayedStream, RelayRequest } from '../providers/openai/relayed-stream'
import type { Source } from '../providers/upstream-error'
import type { Allowance, Attempt, Operation, Sent } from '../routing/attempt'
import type { Candidate } from '../routing/candidate'
import { Deadline } from '../routing/deadline'
import { dispatch } from '../routing/dispatch'
import { UpstreamStream } from '../routing/upstream-stream'
import { answerId, type Identity } from '../wire/answer'
import { ClientGone } from '../wire/chunk-stream'

/** The fields of a request that decide how its answer is relayed. */
export interface Relayable {
  stream?: boolean | null | undefined
  stream_options?: { include_usage?: boolean | null | undefined } | null | undefined
}

/** The head of every chunk or answer of a job. */
export const identityOf = (job: Job<unknown>, object: Identity['object']): Identity => ({
  id: answerId(job.call.requestId, object === 'text_completion' ? 'cmpl' : 'chatcmpl'),
  object,
  created: Math.floor(Date.now() / 1000),
  model: job.model.id,
})

export const sourceOf = (
  { model, body }: Job<unknown>,
  { provider, connection }: Candidate,
  textField: Source['textField'],
): Source => ({
  provider: provider.key,
  secret: connection.secret,
  textField,
  wasSent: (field) => field in body,
  contextLength: model.contextLength,
  maxOutputTokens: model.maxOutputTokens,
})

export interface RelayOf {
  candidate: Candidate
  source: Source
  identity: Identity
  legacyFunctions: boolean
}

export const relayRequestOf = (job: Job<Relayable>, relay: RelayOf): RelayRequest => ({
  identity: relay.identity,
  source: relay.source,
  options: relay.candidate.provider.options,
  wantsUsage: job.request.stream_options?.include_usage === true,
  legacyFunctions: relay.legacyFunctions,
  newCallId: () => `call_${newIdBody()}`,
  estimate: (output) => estimateUsage({ promptTokens: estimatePrompt(job.body), output }),
})

/** For the whole of a plain request; a caller who leaves ends it too, unless he may ask again. */
export function wholeDeadline({ call, ports }: Job<unknown>): Deadline {
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
}

interface StreamPlan {
  prepare: (candidate: Candidate) => Prepared
  relay: (candidate: Candidate, prepared: Prepared) => RelayedStream
  allowance: Allowance | undefined
}

/** Opens a stream at the first candidate that gives one. */
export const openStream = (job: Job<unknown>, plan: StreamPlan): Promise<OpenStream> =>
  dispatch(
    job.candidates,
    async (candidate) => {
      const prepared = plan.prepare(candidate)
      const { egress, credentials, drains, timers, running } = job.ports
      const { streamMs: totalMs, firstByteMs, idleMs } = timers
      const onPassed = (reason: Error): boolean => leaving.passed(reason)
      const deadline = new Deadline({ totalMs, firstByteMs, idleMs, onPassed }, running)
      const { signal } = job.call
      const leaving = new Leaving({ signal, deadline, policy: candidate.provider.abort, drains })
      const { allowance } = plan
      const way = { candidate, deadline, egress, credentials, hops: job.call.hops }
      const attempt: Attempt = { ...prepared, ...way, allowance }
      try {
        const relayed = plan.relay(candidate, prepared)
        const stream = await UpstreamStream.open(attempt, relayed)
        leaving.opened(stream)
        return {
          stream,
          provider: candidate.provider.key,
          usage: () => relayed.usage(),
          leave: () => leaving.leave(stream),
        }
      } catch (thrown) {
        leaving[Symbol.dispose]()
        deadline[Symbol.dispose]()
        throw thrown
      }
    },
    (candidate, failure) => job.meter.begin(candidate, failure),
  )
