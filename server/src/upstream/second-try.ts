import { AttemptFailed } from './attempt-failed'
import type { ChatProtocol, OutgoingRequest, UpstreamProtocol } from './protocol/protocol'
import { findUpstreamError, type UpstreamFailure } from '../providers/upstream-error'

// A refusal with a status of its own is replaced where it arrives: see `attempt.ts`. These are for one that comes in
// place of an answer, inside a good status.

/** Returns the request to send once more after a failed attempt; undefined where the failure stands. */
export function findReplacement(
  protocol: Pick<UpstreamProtocol, 'replaceRefused'>,
  thrown: unknown,
): OutgoingRequest | undefined {
  const refusal = findRefusal(thrown)
  return refusal && protocol.replaceRefused(refusal)
}

/** Returns the refusal behind a failed attempt, as it would have come with a status of its own. */
function findRefusal(thrown: unknown): UpstreamFailure | undefined {
  const refusal = thrown instanceof AttemptFailed ? findUpstreamError(thrown.error) : undefined
  if (!refusal) return undefined
  const { status, codes, words: message } = refusal
  return { status: status === 200 ? 400 : status, body: { error: { message, codes } } }
}

/** Returns the same protocol with another request, which is not replaced again. */
export const withRequest = (
  protocol: UpstreamProtocol,
  request: OutgoingRequest,
): UpstreamProtocol => ({
  request,
  source: protocol.source,
  framing: protocol.framing,
  toError: (refusal) => protocol.toError(refusal),
  replaceRefused: () => undefined,
  toEvents: (answer) => protocol.toEvents?.(answer) ?? [answer],
})

const withChatRequest = (protocol: ChatProtocol, request: OutgoingRequest): ChatProtocol => ({
  ...withRequest(protocol, request),
  omitted: protocol.omitted,
  callerNames: protocol.callerNames,
  isEncoded: protocol.isEncoded,
  streamsOnly: protocol.streamsOnly,
  collect: protocol.collect,
  stream: (facts) => protocol.stream(facts),
  complete: (answer, facts) => protocol.complete(answer, facts),
})

/** Opens a stream, and once more where its provider refuses the request, and the protocol knows another that it takes. */
export async function withSecondTry<Answer>(
  protocol: ChatProtocol,
  open: (protocol: ChatProtocol) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await open(protocol)
  } catch (thrown) {
    const request = findReplacement(protocol, thrown)
    if (!request) throw thrown
    return open(withChatRequest(protocol, request))
  }
}
