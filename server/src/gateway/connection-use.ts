import type { ApiError } from '../errors'
import type { ConnectionRates } from '../limits/connection-rates'
import type { Candidate } from '../routing/candidate'
import type { PoolRotation } from '../routing/pool-rotation'

interface Options {
  ports: { connectionRates: ConnectionRates; rotation: PoolRotation }
  /** Reserved at a connection with a limit of tokens. */
  tokens: number
}

/** The use that one request makes of its connections' own limits, until it ends. */
export class ConnectionUse {
  readonly #options: Options
  readonly #ends: (() => void)[] = []
  readonly #full = new Set<unknown>()
  /** By connection: corrects its reserved tokens to those used. */
  readonly #tokenCorrections = new Map<string, (usedTokens: number) => void>()

  constructor(options: Options) {
    this.#options = options
  }

  /** Whether a connection has a rate limit of its own; nearly none has. */
  static counts({ connection: { rpm, tpm }, isPooled }: Candidate): boolean {
    return isPooled || rpm !== null || tpm !== null
  }

  /** Whether `admit` rejected with this error: shown only where it was the only cause. Source: contract 4.8. */
  isFull(refusal: ApiError): boolean {
    return this.#full.has(refusal)
  }

  /** Counts a request. Rejects with `rate_limit_exceeded` where the connection is full. */
  async admit({ connection }: Candidate): Promise<void> {
    const { ports, tokens } = this.#options
    const { id, rpm } = connection
    // The parts of a request are requests to the provider, and share its tokens.
    const tpm = this.#tokenCorrections.has(id) ? null : connection.tpm
    const end = await this.#admit({ id, rpm, tpm }, tokens)
    if (tpm !== null) this.#tokenCorrections.set(id, end)
    this.#ends.push(ports.rotation.begin(id))
  }

  async #admit(connection: Parameters<ConnectionRates['admit']>[0], tokens: number) {
    try {
      return await this.#options.ports.connectionRates.admit(connection, tokens)
    } catch (thrown) {
      this.#full.add(thrown)
      throw thrown
    }
  }

  /** Counts the used tokens at the connection that answered. Twice is harmless. */
  end(usedTokens: number, answeredBy: string | undefined): void {
    for (const end of this.#ends.splice(0)) end()
    for (const [id, makeGood] of this.#tokenCorrections)
      makeGood(id === answeredBy ? usedTokens : 0)
    this.#tokenCorrections.clear()
  }
}
