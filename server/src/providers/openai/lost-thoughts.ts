import { omittedOf } from '../omitted-fields'
import type { RelayOptions } from '../provider'
import type { UpstreamFailure } from '../upstream-error'
import type { JsonObject } from '../../wire/json-body'
import { withoutThinkingParts } from '../../wire/thinking-parts'

/** A chat in place of a refused one, and the fields that it lacks. */
interface ChatReplacement {
  body: JsonObject
  omitted: readonly string[]
}

const rejections: ReadonlySet<number> = new Set([400, 422])

/**
 * Returns the chat to send in place of one that was refused for the thoughts in its history; undefined where the
 * refusal is about something else. A provider that misses thoughts, which their client did not keep, gets the chat with
 * thinking disabled. @see https://api-docs.deepseek.com/guides/thinking_mode
 */
export function replaceRefusedThoughts(
  { status, body: refusal }: UpstreamFailure,
  body: JsonObject,
  { historyReasoning }: Pick<RelayOptions, 'historyReasoning'>,
): ChatReplacement | undefined {
  if (!rejections.has(status)) return undefined
  const words = JSON.stringify(refusal) ?? ''
  switch (historyReasoning) {
    case 'required':
    case 'reasoning_content':
      return /reasoning_content/i.test(words) ? withoutThinking(body) : undefined
    case 'thinking_part':
      return /think/i.test(words) ? withoutForeignThoughts(body) : undefined
    default:
      return undefined
  }
}

function withoutThinking(body: JsonObject): ChatReplacement {
  const { reasoning_effort: _effort, ...rest } = body
  return {
    body: { ...rest, thinking: { type: 'disabled' } },
    omitted: omittedOf(body, ['reasoning_effort', 'thinking']),
  }
}

/** A model that does not think may refuse the thoughts of another. */
function withoutForeignThoughts(body: JsonObject): ChatReplacement | undefined {
  const remaining = withoutThinkingParts(body)
  return remaining && { body: remaining, omitted: [] }
}
