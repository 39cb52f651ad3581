import {
  readCacheControl,
  readToolCacheControl,
  readLastCacheControl,
  type CacheControl,
} from '../wire/cache-control'
import { roleOf } from '../wire/chat-request'
import { isObject, type JsonObject, toList } from '../wire/json-body'

/** The lifetime of the cached prompt in front of a breakpoint. */
export type CacheLifetime = NonNullable<CacheControl['ttl']>

/** The breakpoints that a chat request gets beside those that it has. */
export interface AddedBreakpoints {
  /** Tollgate sets them where the client set none. */
  lifetime: CacheLifetime | undefined
  /** The provider places that of a whole request (`cache_control` at its top) itself. */
  setsOwnBreakpoints: boolean
}

/**
 * Returns a chat request with the breakpoints that its client does not place itself: one for a whole
 * request stands behind its last message; those of Tollgate behind the tools, the instructions, and the
 * last two turns of the user, of which the first is the one that the previous request wrote. Messages
 * carry theirs beside their content. The same object where there are none.
 */
export function withBreakpoints(
  chat: JsonObject,
  { lifetime, setsOwnBreakpoints }: AddedBreakpoints,
): JsonObject {
  const whole = readCacheControl(chat)
  if (whole) return setsOwnBreakpoints ? chat : withLastBreakpoint(chat, whole)
  if (!lifetime || hasBreakpoints(chat)) return chat
  return withAutomaticBreakpoints(chat, lifetimeControl(lifetime))
}

/** Five minutes are the default, also where no lifetime is known. */
export const lifetimeControl = (lifetime: CacheLifetime): CacheControl =>
  lifetime === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: lifetime }

function hasBreakpoints({ messages, tools }: JsonObject): boolean {
  return (
    toList(tools).some((tool) => isObject(tool) && readToolCacheControl(tool)) ||
    toList(messages).some((message) => isObject(message) && isMarked(message))
  )
}

const isMarked = (message: JsonObject) =>
  readLastCacheControl(message) !== undefined ||
  toList(message['tool_calls']).some((call) => isObject(call) && readCacheControl(call))

function withLastBreakpoint(chat: JsonObject, control: CacheControl): JsonObject {
  const { cache_control: _whole, ...rest } = chat
  const messages = [...toList(chat['messages'])]
  const last = messages.at(-1)
  // A breakpoint that it already has stays.
  if (!isObject(last) || isMarked(last)) return rest
  messages[messages.length - 1] = { ...last, cache_control: control }
  return { ...rest, messages }
}

const isInstruction = (message: unknown) =>
  roleOf(message) === 'system' || roleOf(message) === 'developer'
const isUsers = (message: unknown) => roleOf(message) !== 'assistant' && !isInstruction(message)

function withAutomaticBreakpoints(chat: JsonObject, control: CacheControl): JsonObject {
  const messages = [...toList(chat['messages'])]
  const answer = messages.findLastIndex((message) => roleOf(message) === 'assistant')
  const places = [
    messages.findLastIndex(isInstruction),
    messages.slice(0, Math.max(0, answer)).findLastIndex(isUsers),
    messages.findLastIndex(isUsers),
  ]
  for (const place of new Set(places)) {
    const message = messages[place]
    if (isObject(message)) messages[place] = { ...message, cache_control: control }
  }
  const tools = [...toList(chat['tools'])]
  const last = tools.at(-1)
  if (isObject(last)) tools[tools.length - 1] = { ...last, cache_control: control }
  return { ...chat, messages, ...(tools.length > 0 && { tools }) }
}
