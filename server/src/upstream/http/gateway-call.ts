import type { Answer } from './answer'
import { ConnectionFailed } from './connection-failed'
import type { StopSignal } from './stop-signal'
import type { StreamedBody } from './streamed-body'

/** A request that a self-hosted gateway forwards to one of its servers. */
export interface GatewayCall {
  /** Key of the provider, and the model by the name that its server has for it. */
  provider: string
  model: string
  /** The path after the server's base URL. */
  path: string
  body: Record<string, unknown>
  /** Sent in place of `body`, as it is read. */
  content?: (StreamedBody & { type: string }) | undefined
  isStream: boolean
  /** Whether the answer may be other than text. */
  isBinary?: boolean
  stop: StopSignal
  /** The timeout of the whole call. */
  timeoutMs: number
  /** Set where the body is large: released once the body was sent. */
  sent?: { release: () => void } | undefined
}

/**
 * The socket of a gateway was lost, or does not exist: this does not reflect on the servers behind it, and its return
 * is noticed at once.
 */
export class GatewayLost extends ConnectionFailed {
  override readonly name = 'GatewayLost'
}

/** The route to models that self-hosted gateways serve. */
export interface GatewayTransport {
  /** Looks a gateway up: undefined where `takes` knows it; else resolves once it does. Never rejects. */
  lookUp: (gatewayId: string) => Promise<void> | undefined
  /** Whether a gateway takes one more request for a model, by the name that its server has for it. */
  takes: (gatewayId: string, provider: string, model: string) => boolean
  /** Whether a gateway takes requests with a content, and for answers that are no text. */
  takesMedia: (gatewayId: string) => boolean
  /** As `Egress.send`. Rejects with `request_timeout` too. */
  send: (gatewayId: string, call: GatewayCall) => Promise<Answer>
}
