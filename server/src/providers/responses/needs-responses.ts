import { z } from 'zod'
import type { ChatRequest, ReasoningEffort } from '../../wire/chat-request'

/** Efforts from the least to the greatest. */
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** Requests that a model refuses on its chat endpoint, and takes as a Response. */
export const ResponsesFlags = z.strictObject({
  /** Tools in chat: not at all, only where the effort is `none`, or only where none is named. */
  toolsInChat: z.enum(['never', 'with_effort_none', 'without_effort']),
  /** The least effort that it knows. */
  leastEffort: z.enum(efforts).default('none'),
})
export type ResponsesFlags = z.infer<typeof ResponsesFlags>

type ToolsAndEffort = Pick<ChatRequest, 'tools' | 'reasoning_effort'>

/** Returns whether a chat request has to be sent as a Response. Source: contract 12.9. */
export function needsResponses(flags: ResponsesFlags | undefined, chat: ToolsAndEffort): boolean {
  if (!flags || !chat.tools?.length) return false
  switch (flags.toolsInChat) {
    case 'without_effort':
      return Boolean(chat.reasoning_effort) && chat.reasoning_effort !== 'none'
    case 'with_effort_none':
      return chat.reasoning_effort !== 'none'
    case 'never':
    default:
      return true
  }
}

/** The flags of a model by the beginning of its name; the longest that fits counts. */
export function getResponsesFlags(
  models: Readonly<Record<string, ResponsesFlags>>,
  upstreamModel: string,
): ResponsesFlags | undefined {
  const prefixes = Object.keys(models).filter((prefix) => upstreamModel.startsWith(prefix))
  const [longestPrefix = ''] = prefixes.toSorted((a, b) => b.length - a.length)
  return models[longestPrefix]
}

/** Returns the request with the nearest effort that the model knows. */
export function withKnownEffort(chat: ChatRequest, flags: ResponsesFlags): ChatRequest {
  const effort = chat.reasoning_effort
  if (!effort || rank(effort) >= rank(flags.leastEffort)) return chat
  return { ...chat, reasoning_effort: flags.leastEffort }
}

const rank = (effort: ReasoningEffort) => efforts.indexOf(effort)
