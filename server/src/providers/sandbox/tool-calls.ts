import { createHash } from 'node:crypto'
import { SandboxRefusal } from './refusal'
import type { SandboxChatRequest, SandboxMessage } from './request'
import { sample } from './sample'

/** One call as it stands in `message.tool_calls`. */
export interface SandboxToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** All text of a message, its parts joined. */
export const textOf = ({ content }: SandboxMessage): string =>
  typeof content === 'string'
    ? content
    : (content ?? []).map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join('')

/** The last message of the user, else the last of all. */
export const lastUserText = (messages: readonly SandboxMessage[]): string => {
  const message = messages.findLast(({ role }) => role === 'user') ?? messages.at(-1)
  return message ? textOf(message) : ''
}

/** The results that end the conversation, in their order; empty when something else does. */
export function findTrailingResults(messages: readonly SandboxMessage[]): string[] {
  const last = messages.findLastIndex(({ role }) => role !== 'tool')
  return messages.slice(last + 1).map(textOf)
}

const allowsSeveral = /\b(both|each|in parallel|at once)\b/i

/** Unique in a conversation, and the same whenever the conversation is the same. */
function callId(turn: number, variant: number, index: number): string {
  const hash = createHash('sha256').update(`${turn}.${variant}.${index}`).digest('hex')
  return `call_${hash.slice(0, 26)}`
}

function chooseTools({ tools, tool_choice: choice }: SandboxChatRequest) {
  const callable = (tools ?? []).flatMap(({ function: tool }) => (tool ? [tool] : []))
  if (choice === 'none') return []
  const name = typeof choice === 'object' ? choice?.function?.name : undefined
  if (name === undefined || callable.length === 0) return callable
  const tool = callable.find((each) => each.name === name)
  if (!tool) throw new SandboxRefusal(`There is no tool ${name}.`, { param: 'tool_choice' })
  return [tool]
}

/**
 * The calls that the model `tools` makes: the tool that `tool_choice` names, else the first one. It
 * calls the first two when the user's text contains the word "both" or "each", "in parallel" or "at
 * once", unless `parallel_tool_calls` is false. None after a tool result, without tools, and for
 * `tool_choice` `none`. Throws a `Refusal` when `tool_choice` names no tool.
 */
export function createToolCalls(request: SandboxChatRequest, variant: number): SandboxToolCall[] {
  const tools = chooseTools(request)
  const { messages, parallel_tool_calls: parallel } = request
  if (findTrailingResults(messages).length > 0) return []
  const isSeveral = parallel !== false && allowsSeveral.test(lastUserText(messages))
  return tools.slice(0, isSeveral ? 2 : 1).map(({ name, parameters }, index) => ({
    id: callId(messages.length, variant, index),
    type: 'function',
    function: { name, arguments: JSON.stringify(sample(parameters ?? { type: 'object' })) },
  }))
}
