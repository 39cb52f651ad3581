import type { RelayOptions } from '../provider'
import {
  readCacheControl,
  readToolCacheControl,
  fitBreakpoints,
  readLastCacheControl,
  maxBreakpoints,
  type CacheControl,
} from '../../wire/cache-control'
import { isObject, type JsonObject } from '../../wire/json-body'

type AcceptedBreakpoints = Pick<RelayOptions, 'cacheControl' | 'cacheControlExtras'>

const isMarked = (holder: unknown) => isObject(holder) && 'cache_control' in holder

function withoutControl<Holder>(holder: Holder): Holder | JsonObject {
  if (!isObject(holder) || !('cache_control' in holder)) return holder
  const { cache_control: _control, ...rest } = holder
  return rest
}

/** Removes the breakpoints of a list; the same list where it has none. */
const withoutAll = (list: readonly unknown[]): readonly unknown[] =>
  list.some(isMarked) ? list.map(withoutControl) : list

/** A message for a provider that does not know breakpoints. */
export function withoutBreakpoints(message: JsonObject): JsonObject {
  const { content, tool_calls: calls } = message
  const plainContent = Array.isArray(content) ? toPlainText(message, content) : content
  const plainCalls = Array.isArray(calls) ? withoutAll(calls) : calls
  if (plainContent === content && plainCalls === calls && !isMarked(message)) return message
  return {
    ...withoutControl(message),
    ...(plainContent !== content && { content: plainContent }),
    ...(plainCalls !== calls && { tool_calls: plainCalls }),
  }
}

/** A part that had to be one for its mark is the text that it was: of calls and results many take no parts. */
function toPlainText({ role }: JsonObject, content: readonly unknown[]): unknown {
  const plain = withoutAll(content)
  const [only] = plain
  const isLone =
    plain !== content && plain.length === 1 && (role === 'tool' || role === 'assistant')
  return isLone && isObject(only) && only['type'] === 'text' ? only['text'] : plain
}

/** Removes the breakpoint in either spelling, and sets the one given. */
function withControl(holder: JsonObject, control: CacheControl | undefined): JsonObject {
  const { cache_control: _control, prompt_cache_breakpoint: _breakpoint, ...rest } = holder
  return { ...rest, ...(control && { cache_control: control }) }
}

/** Returns a tool with its breakpoint beside its function, or without one. */
function withToolControl(tool: unknown, control: CacheControl | undefined): unknown {
  if (!isObject(tool)) return tool
  return withControl({ ...tool, function: withoutControl(tool['function']) }, control)
}

const isMarkedTool = (tool: unknown) => isObject(tool) && readToolCacheControl(tool) !== undefined

/**
 * Fits the breakpoints of a chat request to its provider; where that takes none, `withoutBreakpoints`
 * removes those of its messages.
 */
export function relayBreakpoints(chat: JsonObject, accepted: AcceptedBreakpoints): void {
  const { tools } = chat
  if (!takes(accepted, 'request')) delete chat['cache_control']
  if (Array.isArray(tools) && tools.some(isMarkedTool) && !takes(accepted, 'tools')) {
    chat['tools'] = tools.map((tool) => withToolControl(tool, undefined))
  }
  if (!accepted.cacheControl || !Array.isArray(chat['messages'])) return
  // A breakpoint of the whole request counts towards the maximum.
  const max = maxBreakpoints - ('cache_control' in chat ? 1 : 0)
  new BreakpointFitter(chat, max, takes(accepted, 'ttl')).apply()
}

const takes = (
  { cacheControl, cacheControlExtras }: AcceptedBreakpoints,
  place: AcceptedBreakpoints['cacheControlExtras'][number],
): boolean => cacheControl && cacheControlExtras.includes(place)

/** Something that carries a breakpoint, and how it is written anew. */
interface MarkedItem {
  control: CacheControl
  write: (control: CacheControl | undefined) => void
}

/** Brings the breakpoints of a request to where, and down to how many, a provider takes them. */
class BreakpointFitter {
  readonly #chat: JsonObject
  readonly #max: number
  readonly #acceptsLifetime: boolean
  readonly #marked: MarkedItem[] = []

  constructor(chat: JsonObject, max: number, acceptsLifetime: boolean) {
    this.#chat = chat
    this.#max = max
    this.#acceptsLifetime = acceptsLifetime
  }

  apply(): void {
    this.#collectTools()
    const { messages } = this.#chat
    if (Array.isArray(messages)) this.#chat['messages'] = this.#collectMessages(messages)
    const fitting = fitBreakpoints(
      this.#marked.map(({ control }) => control),
      this.#max,
    )
    for (const [position, { write }] of this.#marked.entries()) {
      const control = fitting[position]
      write(control && !this.#acceptsLifetime ? { type: control.type } : control)
    }
  }

  #collectTools(): void {
    const { tools } = this.#chat
    if (!Array.isArray(tools) || !tools.some(isMarkedTool)) return
    const copy: unknown[] = [...tools]
    this.#chat['tools'] = copy
    for (const [position, tool] of copy.entries()) {
      const control = isObject(tool) ? readToolCacheControl(tool) : undefined
      if (!control) continue
      this.#marked.push({
        control,
        write: (fitting) => (copy[position] = withToolControl(tool, fitting)),
      })
    }
  }

  /** Collects the breakpoints of messages; returns the same messages where none carries one. */
  #collectMessages(messages: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined
    for (const [position, message] of messages.entries()) {
      if (!isObject(message) || !hasBreakpoint(message)) continue
      copy ??= [...messages]
      copy[position] = this.#collectMessage(message)
    }
    return copy ?? messages
  }

  #collectMessage(message: JsonObject): JsonObject {
    const copy = withControl(message, undefined)
    const { content, tool_calls: calls } = copy
    const control = readCacheControl(message) ?? lastOf(calls)
    if (Array.isArray(calls)) copy['tool_calls'] = withoutAll(calls)
    const parts = Array.isArray(content) ? [...content] : toParts(content)
    copy['content'] = parts ?? content
    for (const [position, part] of (parts ?? []).entries()) {
      if (!isObject(part)) continue
      const isLast = position === (parts?.length ?? 0) - 1
      const partControl = readCacheControl(part) ?? (isLast ? control : undefined)
      if (!partControl || !parts) continue
      this.#marked.push({
        control: partControl,
        write: (fitting) => (parts[position] = withControl(part, fitting)),
      })
    }
    return copy
  }
}

const toParts = (content: unknown): unknown[] | undefined =>
  typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : undefined

/**
 * Returns the breakpoint of a call, which none of these providers takes there: it moves to the end of the
 * message's text.
 */
function lastOf(calls: unknown): CacheControl | undefined {
  const marked: unknown = Array.isArray(calls) ? calls.findLast(isMarked) : undefined
  return isObject(marked) ? readCacheControl(marked) : undefined
}

function hasBreakpoint(message: JsonObject): boolean {
  const { tool_calls: calls } = message
  return (
    isMarked(message) ||
    readLastCacheControl(message) !== undefined ||
    (Array.isArray(calls) && calls.some(isMarked))
  )
}
