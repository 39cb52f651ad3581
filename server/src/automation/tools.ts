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

/** One call of a tool on its way to the gateway. */
export interface ToolCall {
  name: string
  arguments: JsonObject
  timeoutMs: number
  /** Of the result's content, as UTF-8. */
  mostBytes: number
  /** Aborts when nobody waits for the result any more: the gateway is told to end it. */
  signal: AbortSignal
}

export interface ToolResult {
  content: string
  /** The tool ran and failed, or did not run: its model is told, and goes on. */
  isError: boolean
}

/** The tools of self-hosted gateways. */
export interface Tools {
  /**
   * What a gateway announces now; undefined where it is not online. Rejects with
   * `resource_not_found` where it is gone, or no longer the account's to use.
   */
  of: (gatewayId: string, userId: string) => Promise<readonly ToolDefinition[] | undefined>
  /** Rejects with an `ApiError` where the gateway is lost. */
  call: (gatewayId: string, call: ToolCall) => Promise<ToolResult>
}

/** What one message may take of tools. */
export interface ToolLimits {
  /** How often the model may ask for tools; each time for as many as it likes. */
  rounds: number
  /** Calls of tools, all rounds together. */
  calls: number
  /** Nano-dollars; once the calls of the model have cost more, no further tool runs. */
  cost: bigint
  /** One call of a tool. */
  callMs: number
  /** Of one result, as UTF-8. */
  resultBytes: number
  /** A whole plain message, model and tools together. */
  plainMs: number
  /** The same as a stream. */
  streamMs: number
}

type Lists = Pick<SessionRow, 'enabled_tools' | 'disabled_tools'>

/** What of an announcement a session lets its model use: whatever is not named does not run. */
export function allowedOf(
  announced: readonly ToolDefinition[],
  { enabled_tools: enabled, disabled_tools: disabled }: Lists,
): ToolDefinition[] {
  return announced.filter(
    ({ name }) => (enabled === null || enabled.includes(name)) && !disabled.includes(name),
  )
}

/** What a model reads of. Source: contract 4.1. */
const mostOffered = 128

/** Tools as a chat offers them. Throws `invalid_request` for more than a chat may. */
export function offered(tools: readonly ToolDefinition[]): JsonObject[] {
  if (tools.length > mostOffered) {
    const words = `the gateway has ${tools.length} tools for this session, and a model gets at most`
    throw invalidRequest('enabledTools', 'too_many', `enabledTools: ${words} ${mostOffered}.`)
  }
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters },
  }))
}
