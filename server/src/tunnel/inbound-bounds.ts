import { bounds, type FromGateway } from './frames'
import { ProtocolError } from './read-frame'

type Frame<Type extends FromGateway['type']> = Extract<FromGateway, { type: Type }>

/** Checks the order and the amount of a gateway's frames for one request. */
export class Inflow {
  #left: number = bounds.windowBytes
  hasBegun = false

  /** Counts a chunk. Throws `ProtocolError` for more than the window. */
  chunk(bytes: number): void {
    this.hasBegun = true
    if (bytes > this.#left) throw new ProtocolError('More came than a window allows.')
    this.#left -= bytes
  }

  /** Throws `ProtocolError` for a response that contradicts the chunks before it. */
  response({ status, body }: Frame<'response'>): void {
    if (this.hasBegun && (status !== 200 || body)) {
      throw new ProtocolError('What follows chunks has status 200 and no body.')
    }
    this.hasBegun = true
  }

  /** Allows the given number of further bytes. */
  grant(bytes: number): void {
    this.#left = Math.min(bounds.windowBytes, this.#left + bytes)
  }
}
