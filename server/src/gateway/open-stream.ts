import type { RequestAttempt } from './attempt'
import { ClientDisconnect } from './client-disconnect'
import type { EndpointRun } from './endpoint'
import type { FailoverStep } from './failover'
import { getLoweredOutput } from './output-limit'
import type { OpenStream } from './request'
import { promptUsage, toLossReport } from './unanswered-use'
import type { ValidatedRequest } from './attempt'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { Deadline } from '../upstream/deadline'
import type { ChatProtocol } from '../upstream/protocol'
import { UpstreamStream } from '../upstream/stream'
import type { OutputAllowance } from '../upstream/stream-bounds'
import type { JsonObject } from '../wire/json-body'

/** The part of opening a stream that is specific to one endpoint, or to one of its prompts. */
export interface StreamPlan<Params> {
  protocol: (attempt: RequestAttempt<Params>) => ChatProtocol
  /** The part of the attempt's body to send, where that is not all of it. */
  sentBody?: (attempt: RequestAttempt<Params>) => JsonObject
  /** Starts reading the answer. */
  relay: (attempt: RequestAttempt<Params>, protocol: ChatProtocol) => RelayedStream
  allowance: (attempt: RequestAttempt<Params>) => OutputAllowance | undefined
  /** Runs before the attempt at the candidate is recorded. */
  before?: ((attempt: RequestAttempt<Params>) => Promise<void>) | undefined
}

/** Opens a stream at the first candidate that gives one. */
export const openStream = <Params>(
  failover: EndpointRun<Params>,
  plan: StreamPlan<Params>,
): Promise<OpenStream> => failover.run(new StreamOpening(plan))

class StreamOpening<Params> implements FailoverStep<ValidatedRequest<Params>, OpenStream> {
  readonly #plan: StreamPlan<Params>
  readonly before: StreamPlan<Params>['before']

  constructor(plan: StreamPlan<Params>) {
    this.#plan = plan
    this.before = plan.before
  }

  async attempt(attempt: RequestAttempt<Params>): Promise<OpenStream> {
    const { candidate, request, body } = attempt
    const plan = this.#plan
    const protocol = plan.protocol(attempt)
    const { drains, timers, deadlines, resilience } = request.ports
    const { streamMs: totalMs, firstByteMs, idleMs } = timers
    const onExpired = (reason: Error): boolean => disconnect.detachForTimeout(reason)
    const deadline = new Deadline({ totalMs, firstByteMs, idleMs, onExpired }, deadlines)
    const { accountId } = request.principal
    const disconnect = new ClientDisconnect({
      signal: request.call.signal,
      deadline,
      policy: candidate.provider.abort,
      drains,
      accountId,
    })
    const breaker = resilience.begin(candidate, accountId)
    const allowance = plan.allowance(attempt)
    try {
      const relayed = plan.relay(attempt, protocol)
      const stream = await UpstreamStream.open(
        {
          candidate,
          request,
          protocol,
          deadline,
          allowance,
          onLost: toLossReport(attempt, (bytes) =>
            promptUsage(plan.sentBody?.(attempt) ?? body, bytes),
          ),
          onBroken: (thrown) => resilience.end(breaker, thrown),
          drain: () => disconnect.drain,
        },
        relayed,
      )
      disconnect.onOpened(stream)
      return {
        stream,
        provider: candidate.provider.key,
        outputLimit: getLoweredOutput(attempt),
        isEncoded: protocol.isEncoded,
        omitted: protocol.omitted,
        usage: () => relayed.usage(),
        detach: () => disconnect.detach(stream),
      }
    } catch (thrown) {
      disconnect[Symbol.dispose]()
      deadline[Symbol.dispose]()
      throw thrown
    }
  }
}
