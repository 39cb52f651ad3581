import { isObject } from '../wire/json-body'

/** The finish reasons of other formats, in our terms. */
const words: ReadonlyMap<string, string> = new Map(
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

const named = (word: unknown): string | null =>
  typeof word === 'string' ? (words.get(word) ?? word).slice(0, 40) : null

/** Returns the finish reason of a whole answer in any format; null where it has none. */
export function finishOf(body: object): string | null {
  if (!isObject(body)) return null
  const choices = body['choices']
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(choice)) return named(choice['finish_reason'])
  return named(body['stop_reason'] ?? (body['object'] === 'response' ? body['status'] : null))
}

// Within a text the quotes are escaped.
const said = /"(?:finish_reason|stop_reason)":"(\w+)"|"type":"response\.(completed|incomplete)"/
const mostLooked = 8

/** Returns the finish reason in the last pieces of a stream, chunks or frames; null where they have none. */
export function finishIn(pieces: readonly string[]): string | null {
  const first = Math.max(0, pieces.length - mostLooked)
  for (let at = pieces.length - 1; at >= first; at--) {
    const [, reason, event] = said.exec(pieces[at] ?? '') ?? []
    if (reason ?? event) return named(reason ?? event)
  }
  return null
}
