import type { ApiError } from '../errors'
import {
  hasLimits,
  type ConnectionNeed,
  type ConnectionRates,
  type ReportedUse,
} from '../limits/connection-rates'
import type { Candidate } from '../routing/candidate'
import type { PoolRotation } from '../routing/pool-rotation'

interface Options {
  ports: { connectionRates: ConnectionRates; rotation: PoolRotation }
  /** Reserved at a connection with limits of tokens, images or seconds. */
  need: ConnectionNeed
}

/** A part of a request after the first one at the same connection. */
const noLimits = { tpm: null, imagesPerMinute: null, audioSecondsPerMinute: null }

/** The use that one request makes of its connections' own limits, until it ends. */
export class ConnectionUse {
  readonly #options: Options
  readonly #ends: (() => void)[] = []
  readonly #full = new Set<unknown>()
  /** By connection: corrects what was reserved to what was used. */
  readonly #corrections = new Map<string, (use: ReportedUse) => void>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Whether a connection has a rate limit of its own; nearly none has. */
  static counts({ connection, isPooled }: Candidate): boolean {
    return isPooled || hasLimits(connection)
  }

  /** Whether `admit` rejected with this error: shown only where it was the only cause. Source: contract 4.8. */
  isFull(refusal: ApiError): boolean {
    return this.#full.has(refusal)
  }

  /** Counts a request. Rejects with `rate_limit_exceeded` where the connection is full. */
  async admit({ connection }: Candidate): Promise<void> {
    const { id, rpm } = connection
    // The parts of a request are requests to the provider, and share its tokens, images and seconds.
    const isLater = this.#corrections.has(id)
    const end = await this.#admit(isLater ? { id, rpm, ...noLimits } : connection)
    if (!isLater) this.#corrections.set(id, end)
    this.#ends.push(this.#options.ports.rotation.begin(id))
  }

  async #admit(connection: Parameters<ConnectionRates['admit']>[0]) {
    const { ports, need } = this.#options
    try {
      return await ports.connectionRates.admit(connection, need)
    } catch (thrown) {
      this.#full.add(thrown)
      throw thrown
    }
  }

  /** Counts the use at the connection that answered. Twice is harmless. */
  end(use: ReportedUse, answeredBy: string | undefined): void {
    for (const end of this.#ends.splice(0)) end()
    for (const [id, makeGood] of this.#corrections)
      makeGood(id === answeredBy ? use : { tokens: 0 })
    this.#corrections.clear()
  }
}
