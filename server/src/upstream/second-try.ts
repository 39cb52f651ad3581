import { AttemptFailed } from './attempt-failed'
import type { UpstreamProtocol } from './protocol/protocol'
import { findUpstreamError, type UpstreamFailure } from '../providers/upstream-error'

// A refusal with a status of its own is replaced where it arrives: see `attempt.ts`. These are for one that comes in
// place of an answer, inside a good status.

/** Replaces the request of a failed attempt that its provider refused. Returns false where the failure stands. */
export function replaceRefused(
  protocol: Pick<UpstreamProtocol, 'replaceRefused'>,
  thrown: unknown,
): boolean {
  const refusal = findRefusal(thrown)
  return refusal !== undefined && protocol.replaceRefused(refusal)
}

/** Returns the refusal behind a failed attempt, as it would have come with a status of its own. */
function findRefusal(thrown: unknown): UpstreamFailure | undefined {
  const refusal = thrown instanceof AttemptFailed ? findUpstreamError(thrown.error) : undefined
  if (!refusal) return undefined
  const { status, codes, words: message } = refusal
  return { status: status === 200 ? 400 : status, body: { error: { message, codes } } }
}

/** Opens a stream, and once more where its provider refuses the request, and the protocol replaces it. */
export async function withSecondTry<Answer>(
  protocol: UpstreamProtocol,
  open: (isSecond: boolean) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await open(false)
  } catch (thrown) {
    if (!replaceRefused(protocol, thrown)) throw thrown
    return open(true)
  }
}
