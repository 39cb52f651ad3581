import { cutAtStop, takeTokens, shortenText, countAnswerTokens } from './text'

/** The bounds of a written text: stop strings, and a limit in tokens; neither counts when absent. */
export interface TextBounds {
  stops: readonly string[]
  limit: number | undefined
}

/** A text as far as it got, why it ended there, and its tokens. */
export interface SandboxText {
  text: string
  finish: 'stop' | 'length'
  tokens: number
}

// A token can be a megabyte without a space; this keeps the answer to a huge request within reason.
const maxTextLength = 2 ** 20

/** The end rules of a request. An absent limit and 0 are the same, as contract 4.1 has it. */
export function readEndRules(
  stop: string | string[] | null | undefined,
  limit?: number | null,
): TextBounds {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? [])
  return { stops: stops.filter((each) => each !== ''), limit: limit || undefined }
}

/**
 * Returns the part of `text` that a model writes within its bounds. The stop string is left out, as a
 * provider does.
 */
export function writeText(text: string, { stops, limit }: TextBounds): SandboxText {
  const fitting = takeTokens(shortenText(text, maxTextLength), limit ?? Number.POSITIVE_INFINITY)
  const stopped = cutAtStop(fitting, stops)
  const output = stopped ?? fitting
  const isCut = stopped === undefined && fitting.length < text.length
  return { text: output, finish: isCut ? 'length' : 'stop', tokens: countAnswerTokens(output) }
}

/** `usage` of an answer; its numbers are simulated, as `text.ts` counts them. */
export const toUsage = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})
