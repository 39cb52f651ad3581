import type { NewMessageText } from './conversation'
import type { ToolDefinition, ToolLimits, ToolResult, GatewayTools } from './tools'
import { isObject, type JsonObject } from '../wire/json-body'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** A tool call as the model requests it. */
export interface AskedCall {
  id: string
  name: string
  /** The model's arguments: JSON, as a rule. */
  text: string
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Parses the tool calls of an assistant message, in their order. */
export const callsIn = (toolCalls: readonly JsonObject[]): AskedCall[] =>
  toolCalls.map(({ id, function: called }) => {
    const { name, arguments: text } = isObject(called) ? called : {}
    return { id: textOf(id), name: textOf(name), text: textOf(text) }
  })

/** The target of a tool call and its limits. */
export interface ToolRun {
  tools: Pick<GatewayTools, 'call'>
  gatewayId: string
  /** The announced tools that the owner allows. */
  allowed: readonly Pick<ToolDefinition, 'name'>[]
  limits: Pick<ToolLimits, 'callMs' | 'resultBytes'>
  /** Aborts when the message must not continue. */
  signal: AbortSignal
}

/**
 * Runs one tool call and resolves with the result for the model: at the latest after `callMs`, with at most
 * `resultBytes`. Rejects where the gateway is lost, and where the message must not continue.
 */
export async function runToolCall(call: AskedCall, run: ToolRun): Promise<string> {
  const { content, isError } = await resultIn(call, run)
  // The wire format has no other field for an error.
  const told = isError && !/^error/i.test(content) ? `Error: ${content}` : content
  return cut(told, run.limits.resultBytes)
}

const failed = (content: string): ToolResult => ({ content, isError: true })

async function resultIn({ name, text }: AskedCall, run: ToolRun): Promise<ToolResult> {
  // Models also call tools that were never offered.
  if (!run.allowed.some((tool) => tool.name === name)) {
    return failed('there is no such tool in this session. It was not run.')
  }
  const args = argumentsIn(text)
  if (!args) return failed('the arguments are no JSON object. The tool was not run.')
  return inTime({ name, arguments: args }, run)
}

function argumentsIn(text: string): JsonObject | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = parseShaped(text, eventShape)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

async function inTime(
  call: { name: string; arguments: JsonObject },
  { tools, gatewayId, limits, signal: going }: ToolRun,
): Promise<ToolResult> {
  going.throwIfAborted()
  const { callMs, resultBytes } = limits
  const ending = new AbortController()
  const { promise: ended, reject } = Promise.withResolvers<never>()
  ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true })
  const end = () => ending.abort(going.reason)
  going.addEventListener('abort', end, { once: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    ending.abort()
  }, callMs)
  const asked = { ...call, timeoutMs: callMs, mostBytes: resultBytes, signal: ending.signal }
  try {
    // The race also ends where a gateway does not react to the cancellation.
    return await Promise.race([tools.call(gatewayId, asked), ended])
  } catch (thrown) {
    if (!isLate || going.aborted) throw thrown
    return failed(`the tool was ended, as it took longer than ${callMs / 1000} s.`)
  } finally {
    clearTimeout(timer)
    going.removeEventListener('abort', end)
  }
}

/** Cuts a text to a maximum of UTF-8 bytes, and marks the place of the cut. */
export function cut(text: string, mostBytes: number): string {
  // A character has at most three bytes for each UTF-16 unit.
  if (text.length * 3 <= mostBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= mostBytes) return text
  const mark = `\n[cut: the whole result has ${bytes.length} bytes]`
  const room = Math.max(0, mostBytes - mark.length)
  // The decoder holds back the rest of a character that was cut through, and no more bytes follow.
  const kept = new TextDecoder().decode(bytes.subarray(0, room), { stream: true })
  return `${kept}${mark}`
}

/** Returns a tool's result as a message of the session. */
export const toToolMessage = (
  { id }: Pick<AskedCall, 'id'>,
  content: string,
): NewMessageText & { content: string } => ({ role: 'tool', content, toolCallId: id, tokens: 0 })
