import { bounds, type GatewayFrame } from './frames'
import { ProtocolError } from './read-frame'

/** Checks the order and the amount of a gateway's frames for one request. */
export class InboundWindow {
  #remaining: number = bounds.windowBytes
  hasBegun = false

  /** Counts a chunk. Throws `ProtocolError` for more than the window. */
  chunk(bytes: number): void {
    this.hasBegun = true
    if (bytes > this.#remaining) throw new ProtocolError('The data exceeds the window.')
    this.#remaining -= bytes
  }

  /** Throws `ProtocolError` for a response that contradicts the chunks before it. */
  response({ status, body }: GatewayFrame<'response'>): void {
    if (this.hasBegun && (status !== 200 || body)) {
      throw new ProtocolError('The frame after chunks must have status 200 and no body.')
    }
    this.hasBegun = true
  }

  /** Allows the given number of further bytes. */
  grant(bytes: number): void {
    this.#remaining = Math.min(bounds.windowBytes, this.#remaining + bytes)
  }
}
