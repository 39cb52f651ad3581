import { isObject, type JsonObject } from '../../wire/json-body'
import { completionTokens, type Usage } from '../../wire/usage'

const readCounts = {
  input_tokens: ({ input, audioInput, imageInput }: Usage) => input + audioInput + imageInput,
  output_tokens: completionTokens,
}

type ReadCount = keyof typeof readCounts

/** The counts that clients read unconditionally, at the start of a message and at its end: SDKs throw without them. */
export const countsAtStart: readonly ReadCount[] = ['input_tokens', 'output_tokens']
export const countsAtEnd: readonly ReadCount[] = ['output_tokens']

const lacks = (usage: unknown, name: ReadCount): boolean =>
  !isObject(usage) || typeof usage[name] !== 'number'

/** Returns whether the usage of a message, or of one of its events, lacks one of these counts. */
export const lacksCount = (usage: unknown, names: readonly ReadCount[]): boolean =>
  names.some((name) => lacks(usage, name))

/** Returns such a usage with the missing counts: those that are charged. */
export function withMissingCounts(
  usage: unknown,
  names: readonly ReadCount[],
  charged: Usage,
): JsonObject {
  const complete: JsonObject = isObject(usage) ? { ...usage } : {}
  for (const name of names) if (lacks(usage, name)) complete[name] = readCounts[name](charged)
  return complete
}
