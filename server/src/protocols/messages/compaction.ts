import type { MessagesTurn } from './schema'

/** A history that continues behind the last summary that Anthropic made of it. */
interface CompactedHistory {
  summary: string
  /** The position of the turn with the summary. */
  at: number
  /** That turn, without the content before the summary. */
  turn: MessagesTurn
}

const isSummary = (block: { type: string; content?: unknown }): boolean =>
  block.type === 'compaction' && typeof block.content === 'string' && block.content !== ''

/**
 * The last summary in a history, which stands for all that is before it; undefined where there is none.
 * One that failed has no content, and stands for nothing.
 * @see https://docs.claude.com/en/docs/build-with-claude/compaction
 */
export function findCompaction(messages: readonly MessagesTurn[]): CompactedHistory | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const turn = messages[at]
    if (turn?.role !== 'assistant' || !Array.isArray(turn.content)) continue
    const { content } = turn
    const position = content.findLastIndex(isSummary)
    const block = content[position]
    if (!block) continue
    // The blocks behind it keep their positions.
    const rest = content.map((other, index) => (index < position ? block : other))
    return { summary: String(block['content']), at, turn: { ...turn, content: rest } }
  }
  return undefined
}
