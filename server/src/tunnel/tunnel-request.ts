import { z } from 'zod'
import { bounds, toGateway, type ToGateway } from './frames'
import type { ToolAsked } from './relayed-tool-call'
import type { GatewayCall } from '../egress/gateway-call'
import { invalidRequest } from '../errors'

type Frame<Type extends ToGateway['type']> = Extract<ToGateway, { type: Type }>

const [, request, , , toolCall] = toGateway.options

/** What a gateway is asked for, but for its id on a socket and for what may be long: its payload. */
export const tunnelRequestHead = z.discriminatedUnion('type', [
  request.omit({ id: true, body: true }),
  toolCall.omit({ id: true, arguments: true }),
])
export type TunnelRequestHead = z.output<typeof tunnelRequestHead>

/** A request, or a call of a tool. `payload`: its body, or its arguments, as JSON. */
export interface TunnelRequest {
  head: TunnelRequestHead
  payload: string
}

const timeoutOf = (ms: number) => Math.max(1, Math.round(ms))

/** Throws `invalid_request` for what no frame can hold. */
export const requestOf = ({ provider, model, path, body, isStream, timeoutMs }: GatewayCall) =>
  askedOf(
    {
      type: 'request',
      provider,
      model,
      path,
      stream: isStream,
      window: bounds.windowBytes,
      timeout_ms: timeoutOf(timeoutMs),
    },
    body,
  )

/** The same of a tool. */
export const toolCallOf = ({ name, arguments: args, timeoutMs, mostBytes }: ToolAsked) =>
  askedOf(
    { type: 'tool_call', name, timeout_ms: timeoutOf(timeoutMs), most_bytes: mostBytes },
    args,
  )

/** The frame itself. */
export function toFrameText({ head, payload }: TunnelRequest, id: string): string {
  const rest: Omit<Frame<'request'>, 'body'> | Omit<Frame<'tool_call'>, 'arguments'> = {
    ...head,
    id,
  }
  const field = head.type === 'request' ? 'body' : 'arguments'
  return `${JSON.stringify(rest).slice(0, -1)},"${field}":${payload}}`
}

/** Room for what a frame has beside its payload. */
const headBytes = 4096

function askedOf(head: TunnelRequestHead, payload: Record<string, unknown>): TunnelRequest {
  const text = written(payload)
  if (text === undefined || Buffer.byteLength(text) > bounds.sentBytes - headBytes) throw tooLarge()
  return { head, payload: text }
}

/** Undefined for what is nested too deeply. */
function written(value: object): string | undefined {
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
    `A self-hosted gateway takes requests of at most ${bounds.sentBytes >> 20} MB, as they are sent to it.`,
  )
