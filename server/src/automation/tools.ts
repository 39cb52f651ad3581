import type { SessionRow } from './session-rows'
import { invalidRequest } from '../errors'
import type { JsonObject } from '../wire/json-body'

/** A tool as a self-hosted gateway announces it. Source: contract 10.5. */
export interface ToolDefinition {
  name: string
  description: string
  /** A JSON schema. */
  parameters: JsonObject
}

/** A tool call on its way to the gateway. */
export interface SessionToolCall {
  name: string
  arguments: JsonObject
  timeoutMs: number
  /** The maximum size of the result's content, in bytes of UTF-8. */
  maxBytes: number
  /** Aborts when the result is no longer needed: Tollgate then cancels the call at the gateway. */
  signal: AbortSignal
}

export interface ToolResult {
  content: string
  /** The tool ran and failed, or did not run: the model receives the error and continues. */
  isError: boolean
}

/** The tools of self-hosted gateways. */
export interface GatewayTools {
  /**
   * Returns the tools that a gateway announces now; undefined where it is not online. Rejects with
   * `resource_not_found` where it was deleted, or the account may no longer use it.
   */
  of: (gatewayId: string, userId: string) => Promise<readonly ToolDefinition[] | undefined>
  /** Calls a tool. Rejects with an `ApiError` where the gateway is lost. */
  call: (gatewayId: string, call: SessionToolCall) => Promise<ToolResult>
}

/** The limits on tool calls within one message. */
export interface ToolLimits {
  /** The maximum number of rounds in which the model may call tools; each round may have many calls. */
  rounds: number
  /** The maximum number of tool calls, all rounds together. */
  calls: number
  /** Nano-dollars; once the model calls have cost more, no further tool runs. */
  cost: bigint
  /** The timeout of one tool call, in milliseconds. */
  callMs: number
  /** The maximum size of one result, in bytes of UTF-8. */
  resultBytes: number
  /** The timeout of a whole plain message, model and tools together. */
  plainMs: number
  /** The timeout of a whole streamed message. */
  streamMs: number
}

type Lists = Pick<SessionRow, 'enabled_tools' | 'disabled_tools'>

/** Returns the announced tools that a session enables and does not disable; no other tool runs. */
export function filterAllowedTools(
  availableTools: readonly ToolDefinition[],
  { enabled_tools: enabled, disabled_tools: disabled }: Lists,
): ToolDefinition[] {
  return availableTools.filter(
    ({ name }) => (enabled === null || enabled.includes(name)) && !disabled.includes(name),
  )
}

/** The maximum number of tools that a model is offered. Source: contract 4.1. */
const maxOffered = 128

/** Converts tools to those of a chat. Throws `invalid_request` for more than a chat allows. */
export function toChatTools(tools: readonly ToolDefinition[]): JsonObject[] {
  if (tools.length > maxOffered) {
    const message = `the gateway has ${tools.length} tools for this session, and a model gets at most`
    throw invalidRequest('enabledTools', 'too_many', `enabledTools: ${message} ${maxOffered}.`)
  }
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters },
  }))
}
