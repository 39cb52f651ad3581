import type { RequestAttempt } from './attempt'
import { ClientDisconnect } from './client-disconnect'
import type { EndpointRun } from './endpoint'
import type { FailoverStep } from './failover'
import { getLoweredOutput } from './output-limit'
import type { OpenStream } from './request'
import { assertEnoughTime, timeoutsOf } from './timeouts'
import { promptUsage, toLossReport } from './unanswered-use'
import type { ValidatedRequest } from './attempt'
import type { RelayedStream } from '../providers/openai/relayed-stream'
import { reportLoss } from '../upstream/attempt'
import { Deadline } from '../upstream/deadline'
import type { ChatProtocol, StreamProtocol } from '../upstream/protocol/protocol'
import { withSecondTry } from '../upstream/second-try'
import { startStream } from '../upstream/start-stream'
import type { OutputAllowance } from '../upstream/stream-bounds'
import type { JsonObject } from '../wire/json-body'
import type { Usage } from '../wire/usage'

/** The part of opening a stream that is specific to one endpoint, or to one of its prompts. */
export interface StreamPlan<Params, Protocol extends StreamProtocol = ChatProtocol> {
  protocol: (attempt: RequestAttempt<Params>) => Protocol
  /** The part of the attempt's body to send, where that is not all of it. */
  sentBody?: (attempt: RequestAttempt<Params>) => JsonObject
  /** Opens a stream of an answer that no stream of the provider gives; undefined for any other. */
  openWhole?: (attempt: RequestAttempt<Params>) => Promise<OpenStream> | undefined
  /** Starts reading the answer. */
  relay: (attempt: RequestAttempt<Params>, protocol: Protocol) => RelayedStream
  allowance: (attempt: RequestAttempt<Params>) => OutputAllowance | undefined
  /** The usage of an attempt that its provider bills without answering; by default that of its prompt. */
  lostUsage?: (attempt: RequestAttempt<Params>) => Usage
  /** Runs before the attempt at the candidate is recorded. */
  before?: ((attempt: RequestAttempt<Params>) => Promise<void>) | undefined
  /** The content type of the answer, where that is no stream of events. */
  contentType?: (attempt: RequestAttempt<Params>) => string
}

/** Opens a stream at the first candidate that gives one. */
export const openStream = <Params, Protocol extends StreamProtocol>(
  failover: EndpointRun<Params>,
  plan: StreamPlan<Params, Protocol>,
): Promise<OpenStream> => failover.run(new StreamOpening(plan))

/** The usage of a broken stream: of one without content that of an unanswered request. */
function usageAfter(
  failure: unknown,
  relayedStream: RelayedStream,
  attempt: Pick<RequestAttempt<unknown>, 'unansweredUse' | 'candidate'>,
): Usage | undefined {
  if (relayedStream.hasContent()) return relayedStream.usage()
  reportLoss({ onLost: toLossReport(attempt, () => relayedStream.usage()) }, failure)
  return undefined
}

class StreamOpening<Params, Protocol extends StreamProtocol> implements FailoverStep<
  ValidatedRequest<Params>,
  OpenStream
> {
  readonly #plan: StreamPlan<Params, Protocol>
  readonly before: StreamPlan<Params>['before']

  constructor(plan: StreamPlan<Params, Protocol>) {
    this.#plan = plan
    this.before = plan.before
  }

  async attempt(attempt: RequestAttempt<Params>): Promise<OpenStream> {
    const { candidate, request } = attempt
    const whole = this.#plan.openWhole?.(attempt)
    if (whole) return whole
    assertEnoughTime(attempt, 'stream')
    const protocol = this.#plan.protocol(attempt)
    const { resilience } = request.ports
    const breaker = resilience.begin(candidate, request.principal.accountId)
    const onBroken = (thrown: unknown) => resilience.end(breaker, thrown)
    return withSecondTry(protocol, () => this.#open(attempt, protocol, onBroken))
  }

  async #open(
    attempt: RequestAttempt<Params>,
    protocol: Protocol,
    onBroken: (thrown: unknown) => void,
  ): Promise<OpenStream> {
    const { candidate, request, body } = attempt
    const plan = this.#plan
    const { drains, timers, deadlines } = request.ports
    const { streamMs: totalMs, firstByteMs, idleMs } = timeoutsOf(attempt, timers)
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
    const allowance = plan.allowance(attempt)
    try {
      const relayedStream = plan.relay(attempt, protocol)
      const stream = await startStream(
        {
          candidate,
          request,
          protocol,
          deadline,
          allowance,
          onLost: toLossReport(
            attempt,
            (bytes) =>
              plan.lostUsage?.(attempt) ?? promptUsage(plan.sentBody?.(attempt) ?? body, bytes),
          ),
          onBroken,
          drain: () => disconnect.drain,
        },
        relayedStream,
      )
      disconnect.onOpened(stream)
      return {
        stream,
        provider: candidate.provider.key,
        outputLimit: getLoweredOutput(attempt),
        isEncoded: protocol.isEncoded,
        contentType: plan.contentType?.(attempt),
        omittedFields: protocol.omitted,
        usage: () => relayedStream.usage(),
        usageAfter: (failure) => usageAfter(failure, relayedStream, attempt),
        detach: () => disconnect.detach(stream),
      }
    } catch (thrown) {
      disconnect[Symbol.dispose]()
      deadline[Symbol.dispose]()
      throw thrown
    }
  }
}
