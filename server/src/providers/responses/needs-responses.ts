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
  /** It takes no chat at all, with tools or without. */
  responsesOnly: z.boolean().default(false),
})
export type ResponsesFlags = z.infer<typeof ResponsesFlags>

type ToolsAndEffort = Pick<ChatRequest, 'tools' | 'reasoning_effort'>

/** Returns whether a chat request has to be sent as a Response. Source: contract 12.9. */
export function needsResponses(flags: ResponsesFlags | undefined, chat: ToolsAndEffort): boolean {
  if (flags?.responsesOnly) return true
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

type FlagsByName = Readonly<Record<string, ResponsesFlags>>

/** Names of models are the caller's where a date follows a listed one. */
const maxRemembered = 1000

const remembered = new WeakMap<FlagsByName, Map<string, ResponsesFlags | null>>()

/**
 * Returns the flags of a model by the beginning of its name; the longest that fits counts. A beginning with a `*` means
 * any text there, ends where a part of the name ends, and comes before those without.
 */
export function getResponsesFlags(
  models: FlagsByName,
  upstreamModel: string,
): ResponsesFlags | undefined {
  let knownFlags = remembered.get(models)
  if (!knownFlags) remembered.set(models, (knownFlags = new Map()))
  const flags = knownFlags.get(upstreamModel)
  if (flags !== undefined) return flags ?? undefined
  const foundFlags = findResponsesFlags(models, upstreamModel)
  if (knownFlags.size >= maxRemembered) knownFlags.clear()
  knownFlags.set(upstreamModel, foundFlags ?? null)
  return foundFlags
}

function findResponsesFlags(models: FlagsByName, name: string): ResponsesFlags | undefined {
  const [closest = ''] = Object.keys(models)
    .filter((key) => isBeginning(key, name))
    .toSorted((a, b) => Number(b.includes('*')) - Number(a.includes('*')) || b.length - a.length)
  return models[closest]
}

function isBeginning(key: string, name: string): boolean {
  const at = key.indexOf('*')
  if (at === -1) return name.startsWith(key)
  const [before, after] = [key.slice(0, at), key.slice(at + 1)]
  const begin = name.startsWith(before) ? name.indexOf(after, before.length) : -1
  const next = begin === -1 ? undefined : name.slice(begin + after.length)
  return next === '' || next?.startsWith('-') === true
}

/** Returns the request with the nearest effort that the model knows. */
export function withKnownEffort(chat: ChatRequest, flags: ResponsesFlags): ChatRequest {
  const effort = chat.reasoning_effort
  if (!effort || rank(effort) >= rank(flags.leastEffort)) return chat
  return { ...chat, reasoning_effort: flags.leastEffort }
}

const rank = (effort: ReasoningEffort) => efforts.indexOf(effort)
