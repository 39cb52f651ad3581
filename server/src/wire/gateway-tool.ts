import type { JsonObject } from './json-body'

/** A call of a self-hosted gateway's tool. Source: contract 10.5. */
export interface GatewayToolCall {
  name: string
  arguments: JsonObject
  timeoutMs: number
  /** The maximum size of the result's content, in bytes of UTF-8. */
  maxBytes: number
  /** Aborts when the result is no longer needed: Tollgate then cancels the call at the gateway. */
  signal: AbortSignal
}

/** The result of such a call. */
export interface GatewayToolResult {
  content: string
  /** The tool ran and failed, or did not run: the model receives the error and continues. */
  isError: boolean
}
