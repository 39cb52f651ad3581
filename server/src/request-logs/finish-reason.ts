import { isObject } from '../wire/json-body'

/** The finish reasons of other formats, in our terms. */
const finishReasons: ReadonlyMap<string, string> = new Map(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    tool_use: 'tool_calls',
    refusal: 'content_filter',
    completed: 'stop',
    incomplete: 'length',
  }),
)

const toFinishReason = (reason: unknown): string | null =>
  typeof reason === 'string' ? (finishReasons.get(reason) ?? reason).slice(0, 40) : null

/** Returns the finish reason of a whole answer in any format; null where it has none. */
export function finishOf(body: object): string | null {
  if (!isObject(body)) return null
  const choices = body['choices']
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(choice)) return toFinishReason(choice['finish_reason'])
  return toFinishReason(
    body['stop_reason'] ?? (body['object'] === 'response' ? body['status'] : null),
  )
}

// Within a text the quotes are escaped.
const finishPattern =
  /"(?:finish_reason|stop_reason)":"(\w+)"|"type":"response\.(completed|incomplete)"/
const maxLooked = 8

/** Returns the finish reason in the last pieces of a stream, chunks or frames; null where they have none. */
export function finishIn(pieces: readonly string[]): string | null {
  const first = Math.max(0, pieces.length - maxLooked)
  for (let at = pieces.length - 1; at >= first; at--) {
    const [, reason, event] = finishPattern.exec(pieces[at] ?? '') ?? []
    if (reason ?? event) return toFinishReason(reason ?? event)
  }
  return null
}
