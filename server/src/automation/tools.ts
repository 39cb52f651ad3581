import type { SessionRow } from './session-rows'
import { invalidRequest } from '../errors'
import type { AnnouncedTool } from '../platform/db/gateway-schema'
import type { GatewayToolCall, GatewayToolResult } from '../wire/gateway-tool'
import type { JsonObject } from '../wire/json-body'

/** The tools of self-hosted gateways. */
export interface GatewayTools {
  /**
   * Returns the tools that a gateway announces now; undefined where it is not online. Rejects with
   * `resource_not_found` where it was deleted, or the account may no longer use it.
   */
  of: (gatewayId: string, userId: string) => Promise<readonly AnnouncedTool[] | undefined>
  /** Calls a tool. Rejects with an `ApiError` where the gateway is lost. */
  call: (gatewayId: string, call: GatewayToolCall) => Promise<GatewayToolResult>
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
  availableTools: readonly AnnouncedTool[],
  { enabled_tools: enabled, disabled_tools: disabled }: Lists,
): AnnouncedTool[] {
  return availableTools.filter(
    ({ name }) => (enabled === null || enabled.includes(name)) && !disabled.includes(name),
  )
}

/** The maximum number of tools that a model is offered. Source: contract 4.1. */
const maxOffered = 128

/** Converts tools to those of a chat. Throws `invalid_request` for more than a chat allows. */
export function toChatTools(tools: readonly AnnouncedTool[]): JsonObject[] {
  if (tools.length > maxOffered) {
    const message = `the gateway has ${tools.length} tools for this session, and a model gets at most`
    throw invalidRequest('enabledTools', 'too_many', `enabledTools: ${message} ${maxOffered}.`)
  }
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters },
  }))
}
