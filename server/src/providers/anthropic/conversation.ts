import { markLast, toBlocks, toTextBlocks, type AnthropicBlock } from './content'
import { toThinkingBlocks } from './reasoning-details'
import { invalidRequest } from '../../errors'
import { parseArguments, toFittingId } from '../history'
import { readLastCacheControl } from '../../wire/cache-control'
import type { ChatMessage } from '../../wire/chat-request'
import { anthropicCallIds } from '../../wire/anthropic-format'

/** One turn; the results of its calls make the turn after it. */
interface Turn {
  role: 'user' | 'assistant'
  thoughts: AnthropicBlock[]
  blocks: AnthropicBlock[]
  calls: AnthropicBlock[]
  /** The results by the id of the call, in the order of the calls. */
  results: Map<string, AnthropicBlock>
}

/** A history as the Messages format has it. */
export interface MessagesConversation {
  system: AnthropicBlock[]
  messages: { role: string; content: AnthropicBlock[] }[]
  /** The last answer made calls, and came back without the thinking that led to it. */
  lostThoughts: boolean
}

/** The treatment of a history's thoughts: none is sent after the provider refused their signatures. */
interface ConversationOptions {
  sendsThoughts: boolean
  /** Gets the fields of arguments that are no JSON object. */
  omit: (field: string) => void
}

/**
 * Repairs a history on its way: roles take turns, results stand directly behind their calls, blank texts
 * are left out; `omit` gets the fields of arguments that are no JSON object. Throws `invalid_request` for results
 * without a call, and for content that this format cannot hold. Source: contract 12.1, 12.6.
 */
export function toConversation(
  messages: readonly ChatMessage[],
  { sendsThoughts, omit }: ConversationOptions,
): MessagesConversation {
  const system: AnthropicBlock[] = []
  const turns: Turn[] = []
  const callers = new Map<string, Turn>()
  for (const [position, message] of messages.entries()) {
    const path = `messages.${position}`
    switch (message.role) {
      case 'system':
      case 'developer': {
        // Later ones are hoisted: only the head has instructions.
        const blocks = toTextBlocks(message.content, `${path}.content`)
        markLast(blocks, message)
        system.push(...blocks)
        break
      }
      case 'user': {
        const blocks = toBlocks(message.content, `${path}.content`)
        markLast(blocks, message)
        if (blocks.length > 0) turnOf('user', turns).blocks.push(...blocks)
        break
      }
      case 'assistant':
        addAnswer(message, { path, turns, callers, sendsThoughts, omit })
        break
      case 'tool':
      case 'function':
        addResult(message, path, callers)
        break
    }
  }
  return finish(system, turns)
}

/** Returns the turn that continues, or a new one. */
function turnOf(role: Turn['role'], turns: Turn[]): Turn {
  const last = turns.at(-1)
  if (last?.role === role && last.results.size === 0) return last
  const turn: Turn = { role, thoughts: [], blocks: [], calls: [], results: new Map() }
  turns.push(turn)
  return turn
}

interface TurnPosition extends ConversationOptions {
  path: string
  turns: Turn[]
  callers: Map<string, Turn>
}

function addAnswer(
  message: ChatMessage,
  { path, turns, callers, sendsThoughts, omit }: TurnPosition,
): void {
  const thoughts = sendsThoughts ? toThinkingBlocks(message['reasoning_details']) : []
  const { refusal } = message
  const blocks = [
    ...toTextBlocks(message.content, `${path}.content`),
    ...(typeof refusal === 'string' ? toBlocks(refusal, path) : []),
  ]
  const calls = message.tool_calls ?? []
  // Thinking that led to nothing is no turn.
  if (blocks.length === 0 && calls.length === 0) return
  const turn = turnOf('assistant', turns)
  turn.thoughts.push(...thoughts)
  turn.blocks.push(...blocks)
  for (const [position, call] of calls.entries()) {
    const id = toFittingId(call.id, anthropicCallIds)
    const input = parseArguments(call, `${path}.tool_calls.${position}`, omit)
    const block: AnthropicBlock = { type: 'tool_use', id, name: call.function.name, input }
    markLast([block], call)
    turn.calls.push(block)
    callers.set(id, turn)
  }
  markLast(calls.length > 0 ? turn.calls : blocks, message)
}

function addResult(message: ChatMessage, path: string, callers: Map<string, Turn>): void {
  const id = toFittingId(message.tool_call_id ?? '', anthropicCallIds)
  const turn = callers.get(id)
  if (!turn) {
    const param = `${path}.tool_call_id`
    throw invalidRequest(param, 'unknown_value', `${param}: no earlier message has this call.`)
  }
  const blocks = toBlocks(message.content, `${path}.content`)
  const content = blocks.map(({ cache_control: _control, ...block }) => block)
  const fields = content.length > 0 ? { content } : {}
  const result: AnthropicBlock = { type: 'tool_result', tool_use_id: id, ...fields }
  // A breakpoint inside a result is rejected; at its end it covers the same.
  const control = readLastCacheControl(message)
  if (control) result['cache_control'] = control
  // Of two results for one call, which are rejected there, the later one counts.
  turn.results.set(id, result)
}

function finish(system: AnthropicBlock[], turns: Turn[]): MessagesConversation {
  const messages: MessagesConversation['messages'] = []
  let results: AnthropicBlock[] = []
  for (const turn of turns) {
    if (turn.role === 'assistant' && results.length > 0) {
      messages.push({ role: 'user', content: results })
      results = []
    }
    const content = [...results, ...turn.thoughts, ...turn.blocks, ...turn.calls]
    messages.push({ role: turn.role, content })
    results = resultsOf(turn)
  }
  if (results.length > 0) messages.push({ role: 'user', content: results })
  trimEnd(messages)
  // A conversation begins with the user, whose whole message may be in the instructions.
  if (messages.length === 0 && system.length > 0) {
    messages.push({ role: 'user', content: system.splice(0) })
  }
  if (messages[0]?.role === 'assistant') {
    messages.unshift({ role: 'user', content: [{ type: 'text', text: 'Go on.' }] })
  }
  const answer = turns.findLast(({ role }) => role === 'assistant')
  const lostThoughts = Boolean(answer && answer.calls.length > 0 && answer.thoughts.length === 0)
  return { system, messages, lostThoughts }
}

const resultsOf = ({ calls, results }: Turn): AnthropicBlock[] =>
  calls.flatMap(({ id }) => results.get(String(id)) ?? [])

/** White space at the end of an answer that is to be continued is rejected. */
function trimEnd(messages: MessagesConversation['messages']): void {
  const last = messages.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || typeof block?.['text'] !== 'string') return
  block['text'] = block['text'].trimEnd()
}
