import type { Schemas } from '../../api/client'
import type { Piece } from './answer-stream'
import { answered, grown, stepsIn, type ToolStep } from './tool-steps'

/** One entry of a conversation, in order. */
export interface Line {
  role: 'user' | 'assistant'
  text: string
  reasoning?: string
  /** The tool calls of a response. */
  steps?: readonly ToolStep[]
  /** The request that produced the response; absent for earlier responses. */
  requestId?: string
  /** The model that was called. */
  model?: string
  /** The reason why a response is missing or incomplete. */
  problem?: string
}

type Message = Schemas['AutomationConversation']['messages'][number]

/** The parts of a stored message that its line has. */
type LineMessage = Pick<Message, 'role' | 'content' | 'tool_call_id' | 'createdAt'> & {
  tool_calls: readonly Record<string, unknown>[] | null
}

/** Returns the lines of stored messages, with tool results attached to the responses that called them. */
export function toLines(messages: readonly LineMessage[]): Line[] {
  const lines: Line[] = []
  for (const { role, content, tool_calls, tool_call_id, createdAt } of messages) {
    const text = content ?? ''
    const atMs = Date.parse(createdAt)
    const last = lines.at(-1)
    if (role === 'user') lines.push({ role, text })
    else if (role === 'assistant') lines.push({ role, text, steps: stepsIn(tool_calls, atMs) })
    else if (role === 'tool' && last?.steps) {
      const result = { tool_call_id: tool_call_id ?? '', content: text }
      lines[lines.length - 1] = { ...last, steps: answered(last.steps, result, atMs) }
    }
  }
  return lines
}

/** Returns lines whose last `count` are replaced. */
export const replaceLast = (
  lines: readonly Line[],
  count: number,
  others: readonly Line[],
): readonly Line[] => [...lines.slice(0, lines.length - count), ...others]

/** A response as far as it has arrived: a line, and one more after each round of tool results. */
export interface PartialAnswer {
  model: string
  lines: readonly [Line, ...Line[]]
  /** The number of tool calls in the lines before the last. */
  earlierCalls: number
}

export const beginAnswer = (model: string): PartialAnswer => ({
  model,
  lines: [{ role: 'assistant', text: '', model }],
  earlierCalls: 0,
})

const lastOf = ({ lines }: PartialAnswer): Line => lines.at(-1) ?? lines[0]

function changeLast(answer: PartialAnswer, fields: Partial<Line>): PartialAnswer {
  const [first, ...others] = answer.lines
  const changed = { ...lastOf(answer), ...fields }
  const lines: PartialAnswer['lines'] =
    others.length === 0 ? [changed] : [first, ...others.slice(0, -1), changed]
  return { ...answer, lines }
}

/** Begins a line of its own for what the model sends after all tool results of the last one. */
function nextLine(answer: PartialAnswer, { text, reasoning, call }: Piece): PartialAnswer {
  const { steps } = lastOf(answer)
  const hasMore = text !== '' || reasoning !== '' || call !== undefined
  if (!steps || !hasMore || steps.some((step) => step.result === undefined)) return answer
  const { model, lines, earlierCalls } = answer
  return {
    model,
    lines: [...lines, { role: 'assistant', text: '', model }],
    earlierCalls: earlierCalls + steps.length,
  }
}

/** Returns the answer with one more part of its stream, which arrived at `nowMs`. */
export function addPiece(answer: PartialAnswer, piece: Piece, nowMs: number): PartialAnswer {
  const { text, reasoning, call, result } = piece
  let next = nextLine(answer, piece)
  const line = lastOf(next)
  if (text) next = changeLast(next, { text: line.text + text })
  if (reasoning) next = changeLast(next, { reasoning: (line.reasoning ?? '') + reasoning })
  if (call) {
    const fragment = { ...call, index: call.index - next.earlierCalls }
    next = changeLast(next, { steps: grown(line.steps ?? [], fragment, nowMs) })
  }
  if (!result) return next
  return changeLast(next, { steps: answered(lastOf(next).steps ?? [], result, nowMs) })
}

interface AnswerEnd {
  /** The id of the request; null if it had none. */
  requestId: string | null
  /** The reason why the response is incomplete; absent for a complete one. */
  problem?: string | undefined
}

/** Returns the answer as it ended. Each call of a model has its own log, and the id belongs to the first. */
export function endAnswer(answer: PartialAnswer, { requestId, problem }: AnswerEnd): PartialAnswer {
  const isAlone = answer.lines.length === 1 && !answer.lines[0].steps
  return changeLast(answer, {
    ...(isAlone && requestId && { requestId }),
    ...(problem !== undefined && { problem }),
  })
}
