import { getClaudeFamily } from './families'
import { isObject, toObjects, type JsonObject } from '../../wire/json-body'

const thoughtTypes: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

const isThought = (block: unknown): boolean => isObject(block) && thoughtTypes.has(block['type'])

const contentOf = (turn: unknown): readonly unknown[] => {
  const content = isObject(turn) && turn['role'] === 'assistant' ? turn['content'] : undefined
  return Array.isArray(content) ? content : []
}

/** Thinking that led to nothing is no turn. */
function withoutThoughtsIn(turn: unknown): unknown[] {
  const content = contentOf(turn)
  if (!isObject(turn) || !content.some(isThought)) return [turn]
  const rest = content.filter((block) => !isThought(block))
  return rest.length > 0 ? [{ ...turn, content: rest }] : []
}

/** A tool loop goes on: with thinking, its calls would need the thoughts that led to them. */
const continuesCalls = (messages: readonly unknown[]): boolean => {
  const last = messages.findLast((turn) => isObject(turn) && turn['role'] === 'assistant')
  return toObjects(contentOf(last)).some(({ type }) => type === 'tool_use')
}

/**
 * Returns a request in this format without the thoughts of its history, whose signatures were refused; undefined where
 * it has none.
 */
export function withoutThoughts(
  body: JsonObject,
  { upstreamModel }: { upstreamModel: string },
): JsonObject | undefined {
  const { messages } = body
  if (!Array.isArray(messages)) return undefined
  if (!messages.some((turn) => contentOf(turn).some(isThought))) return undefined
  const rest = { ...body, messages: messages.flatMap(withoutThoughtsIn) }
  const mustThink = getClaudeFamily(upstreamModel).off === 'never'
  return mustThink || !continuesCalls(messages) ? rest : withoutThinking(rest)
}

const clearsThoughts = ({ type }: JsonObject): boolean =>
  typeof type === 'string' && type.startsWith('clear_thinking')

/** Without thinking, Anthropic refuses to clear thoughts too. */
function withoutThinking({
  thinking: _thinking,
  context_management: management,
  ...body
}: JsonObject): JsonObject {
  if (!isObject(management)) return body
  const edits = toObjects(management['edits']).filter((edit) => !clearsThoughts(edit))
  return edits.length > 0 ? { ...body, context_management: { ...management, edits } } : body
}
