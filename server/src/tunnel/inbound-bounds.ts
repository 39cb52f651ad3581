import { bounds, type FromGateway } from './frames'
import { ProtocolError } from './read-frame'

type Frame<Type extends FromGateway['type']> = Extract<FromGateway, { type: Type }>

/** What a gateway may say to one request, and how much of it. */
export class Inflow {
  #left: number = bounds.windowBytes
  hasBegun = false

  /** Throws `ProtocolError` for more than its window. */
  chunk(bytes: number): void {
    this.hasBegun = true
    if (bytes > this.#left) throw new ProtocolError('More came than a window allows.')
    this.#left -= bytes
  }

  /** Throws `ProtocolError` for what contradicts the chunks before it. */
  response({ status, body }: Frame<'response'>): void {
    if (this.hasBegun && (status !== 200 || body)) {
      throw new ProtocolError('What follows chunks has status 200 and no body.')
    }
    this.hasBegun = true
  }

  /** So many bytes more may come. */
  grant(bytes: number): void {
    this.#left = Math.min(bounds.windowBytes, this.#left + bytes)
  }
}
