import { z } from 'zod'
import { bounds, toGateway, type ToGateway } from './frames'
import type { GatewayCall } from '../upstream/http/gateway-call'
import { invalidRequest } from '../errors'
import type { GatewayToolCall } from '../wire/gateway-tool'

type Frame<Type extends ToGateway['type']> = Extract<ToGateway, { type: Type }>

const [, request, , , toolCall] = toGateway.options

/** A request to a gateway, without its id on a socket and without its payload, which may be long. */
export const tunnelRequestHead = z.discriminatedUnion('type', [
  request.omit({ id: true, body: true }),
  toolCall.omit({ id: true, arguments: true }),
])
export type TunnelRequestHead = z.output<typeof tunnelRequestHead>

/** A request, or a tool call. `payload`: its body, or its arguments, as JSON. */
export interface TunnelRequest {
  head: TunnelRequestHead
  payload: string
}

const timeoutOf = (ms: number) => Math.max(1, Math.round(ms))

/** Builds the request for a model call. Throws `invalid_request` for one that does not fit into a frame. */
export const requestOf = (call: GatewayCall) => {
  const { provider, model, path, body, content, isStream, isBinary, timeoutMs } = call
  return toTunnelRequest(
    {
      type: 'request',
      provider,
      model,
      path,
      stream: isStream,
      ...(content && { content: { type: content.type, bytes: content.bytes } }),
      ...(isBinary && { binary: true }),
      window: bounds.windowBytes,
      timeout_ms: timeoutOf(timeoutMs),
    },
    content ? {} : body,
  )
}

/** Builds the request for a tool call. Throws `invalid_request` for one that does not fit into a frame. */
export const toolCallOf = ({ name, arguments: args, timeoutMs, maxBytes }: GatewayToolCall) =>
  toTunnelRequest(
    { type: 'tool_call', name, timeout_ms: timeoutOf(timeoutMs), most_bytes: maxBytes },
    args,
  )

/** Whether only a gateway with `mediaFeature` serves a request. */
export const needsMedia = (head: TunnelRequestHead): boolean =>
  head.type === 'request' && (head.content !== undefined || head.binary === true)

/** The frame itself. */
export function toFrameText({ head, payload }: TunnelRequest, id: string): string {
  const rest: Omit<Frame<'request'>, 'body'> | Omit<Frame<'tool_call'>, 'arguments'> = {
    ...head,
    id,
  }
  const field = head.type === 'request' ? 'body' : 'arguments'
  return `${JSON.stringify(rest).slice(0, -1)},"${field}":${payload}}`
}

/** Room for the parts of a frame beside its payload. */
const headBytes = 4096

function toTunnelRequest(head: TunnelRequestHead, payload: Record<string, unknown>): TunnelRequest {
  const text = serialize(payload)
  if (text === undefined || Buffer.byteLength(text) > bounds.sentBytes - headBytes) throw tooLarge()
  return { head, payload: text }
}

/** Serializes a value; undefined where it is nested too deeply. */
function serialize(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const tooLarge = () =>
  invalidRequest(
    null,
    'body_too_large',
    `A self-hosted gateway accepts requests of at most ${bounds.sentBytes >> 20} MB.`,
  )
