import type { NewMessageText } from './conversation'
import type { ToolLimits, GatewayTools } from './tools'
import type { AnnouncedTool } from '../platform/db/gateway-schema'
import type { GatewayToolResult } from '../wire/gateway-tool'
import { isObject, type JsonObject, toText } from '../wire/json-body'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** A tool call as the model requests it. */
export interface RequestedCall {
  id: string
  name: string
  /** The model's arguments: JSON, as a rule. */
  text: string
}

/** Parses the tool calls of an assistant message, in their order. */
export const callsIn = (toolCalls: readonly JsonObject[]): RequestedCall[] =>
  toolCalls.map(({ id, function: calledFunction }) => {
    const { name, arguments: text } = isObject(calledFunction) ? calledFunction : {}
    return { id: toText(id), name: toText(name), text: toText(text) }
  })

/** The target of a tool call and its limits. */
export interface ToolRun {
  tools: Pick<GatewayTools, 'call'>
  gatewayId: string
  /** The announced tools that the owner allows. */
  allowed: readonly Pick<AnnouncedTool, 'name'>[]
  limits: Pick<ToolLimits, 'callMs' | 'resultBytes'>
  /** Aborts when the message must not continue. */
  signal: AbortSignal
}

/**
 * Runs one tool call and resolves with the result for the model: at the latest after `callMs`, with at most
 * `resultBytes`. Rejects where the gateway is lost, and where the message must not continue.
 */
export async function runToolCall(call: RequestedCall, run: ToolRun): Promise<string> {
  const { content, isError } = await resultIn(call, run)
  // The wire format has no other field for an error.
  const resultText = isError && !/^error/i.test(content) ? `Error: ${content}` : content
  return cut(resultText, run.limits.resultBytes)
}

const failed = (content: string): GatewayToolResult => ({ content, isError: true })

async function resultIn({ name, text }: RequestedCall, run: ToolRun): Promise<GatewayToolResult> {
  // Models also call tools that were never offered.
  if (!run.allowed.some((tool) => tool.name === name)) {
    return failed('this session has no such tool. It was not run.')
  }
  const args = argumentsIn(text)
  if (!args) return failed('the arguments are not a JSON object. The tool was not run.')
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
  { tools, gatewayId, limits, signal: runSignal }: ToolRun,
): Promise<GatewayToolResult> {
  runSignal.throwIfAborted()
  const { callMs, resultBytes } = limits
  const ending = new AbortController()
  const { promise: ended, reject } = Promise.withResolvers<never>()
  ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true })
  const end = () => ending.abort(runSignal.reason)
  runSignal.addEventListener('abort', end, { once: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    ending.abort()
  }, callMs)
  const gatewayCall = { ...call, timeoutMs: callMs, maxBytes: resultBytes, signal: ending.signal }
  try {
    // The race also ends where a gateway does not react to the cancellation.
    return await Promise.race([tools.call(gatewayId, gatewayCall), ended])
  } catch (thrown) {
    if (!isLate || runSignal.aborted) throw thrown
    return failed(`the tool call was aborted after ${callMs / 1000} s.`)
  } finally {
    clearTimeout(timer)
    runSignal.removeEventListener('abort', end)
  }
}

/** Cuts a text to a maximum of UTF-8 bytes, and marks the place of the cut. */
export function cut(text: string, maxBytes: number): string {
  // A character has at most three bytes for each UTF-16 unit.
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const mark = `\n[truncated: the full result has ${bytes.length} bytes]`
  const maxPrefixBytes = Math.max(0, maxBytes - mark.length)
  // The decoder holds back the rest of a character that was cut through, and no more bytes follow.
  const prefix = new TextDecoder().decode(bytes.subarray(0, maxPrefixBytes), { stream: true })
  return `${prefix}${mark}`
}

/** Returns a tool's result as a message of the session. */
export const toToolMessage = (
  { id }: Pick<RequestedCall, 'id'>,
  content: string,
): NewMessageText & { content: string } => ({ role: 'tool', content, toolCallId: id, tokens: 0 })
