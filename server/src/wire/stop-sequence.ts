import type { JsonObject } from './json-body'

/** Stands for a stop sequence that a provider does not name. */
export const unnamedStop = 'stop_sequence'

/**
 * Reads the stop sequence that ended a choice: vLLM's `stop_reason`, which Tollgate's own choices have too, SGLang's
 * `matched_stop`. Both may hold the number of a token, and a server may have another word there: the caller compares
 * it with the sequences of its request.
 */
export function readMatchedStop(choice: JsonObject): string | undefined {
  const {
    stop_reason: stopReason,
    matched_stop: matchedStop,
    native_finish_reason: native,
  } = choice
  if (typeof stopReason === 'string') return stopReason
  if (typeof matchedStop === 'string') return matchedStop
  return native === unnamedStop ? unnamedStop : undefined
}

/**
 * Returns the requested sequence that ended an answer: null where it was one that is not known, undefined where it was
 * none.
 */
export function findStopSequence(
  matchedStop: string | undefined,
  requested: readonly string[],
): string | null | undefined {
  if (matchedStop === undefined || requested.length === 0) return undefined
  if (requested.includes(matchedStop)) return matchedStop
  if (matchedStop !== unnamedStop) return undefined
  return requested.length === 1 ? requested[0] : null
}
