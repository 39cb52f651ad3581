import type { PricedAttempt } from './attempt'
import type { GatewayPorts } from './ports'
import type { Work } from '../limits/event-loop-shares'
import type { CreditRefusal } from '../metering/credit-refusal'
import type { Reservation } from '../metering/reservation'
import {
  bytesOf,
  maxSavedTokens,
  vocabularyOf,
  withSavedTokens,
  type CloserBound,
} from '../metering/closer-bounds'
import type { Vocabulary } from '../metering/token-worker'
import type { TokenBounds } from '../metering/worst-case'
import type { MaybePromise } from '../platform/maybe-promise'

/** Prompts with less text are held by their bytes. */
const minBytes = 2048

interface Options<Request> {
  /** Finds the long texts of the prompts. */
  endpoint: { texts: (attempt: PricedAttempt<Request>) => readonly string[] }
  bounds: GatewayPorts['closerBounds']
  accountId: string
}

/** Holds the worst case of another volume for the attempt that was refused. */
type HoldVolume = (volume: TokenBounds) => MaybePromise<Reservation> | undefined

/** The texts of a request, and their bound by each vocabulary that a candidate needed. */
interface CountedTexts {
  texts: readonly string[]
  bytes: number
  bounds: Map<Vocabulary, CloserBound>
}

/**
 * Holds again for a request whose hold was refused, by a closer bound of its prompt: a hold takes one token a byte,
 * several times what prose has. Each request is counted at most once by each vocabulary.
 */
export class CloserHolds<Request> {
  readonly #options: Options<Request>
  #countedTexts: CountedTexts | undefined

  constructor(options: Options<Request>) {
    this.#options = options
  }

  /**
   * Undefined where no count could help: the payer has too little for the least that the prompt can have, or the
   * account has used its share of counts. Rejects as `hold` does.
   */
  tryAgain(
    refusal: CreditRefusal,
    attempt: PricedAttempt<Request>,
    hold: HoldVolume,
  ): Promise<Reservation | undefined> | undefined {
    const { bounds: counts, accountId } = this.#options
    const { volume } = refusal
    const { provider, model } = attempt.candidate
    const vocabulary = vocabularyOf(provider, model)
    const covers = (bytes: number) =>
      refusal.covers(withSavedTokens(volume, maxSavedTokens(bytes, vocabulary)))
    // Before any text is read: texts are a part of the input.
    if (!covers(volume.inputTokens)) return undefined
    const isKnown = this.#countedTexts?.bounds.has(vocabulary)
    if (!isKnown && !counts.mayCount(accountId)) return undefined
    this.#countedTexts ??= this.#read(attempt)
    const { bytes } = this.#countedTexts
    if (bytes < minBytes || !covers(bytes)) return undefined
    return this.#hold(volume, hold, this.#count(this.#countedTexts, vocabulary))
  }

  /** Reading takes the event loop's time. */
  #read(attempt: PricedAttempt<Request>): CountedTexts {
    const { endpoint, bounds, accountId } = this.#options
    const startedAtMs = performance.now()
    const texts = endpoint.texts(attempt)
    const countedTexts = { texts, bytes: bytesOf(texts), bounds: new Map() }
    bounds.charge(accountId, performance.now() - startedAtMs, 'idle')
    return countedTexts
  }

  /** A further candidate finds the bound, at no further cost. */
  async #count({ texts, bounds }: CountedTexts, vocabulary: Vocabulary): Promise<CloserBound> {
    const knownBound = bounds.get(vocabulary)
    if (knownBound) return knownBound
    const { bounds: counts, accountId } = this.#options
    const bound = await counts.count({ accountId, texts, vocabulary })
    bounds.set(vocabulary, { ...bound, tookMs: 0 })
    return bound
  }

  async #hold(
    volume: TokenBounds,
    hold: HoldVolume,
    counting: Promise<CloserBound>,
  ): Promise<Reservation | undefined> {
    const { bounds, accountId } = this.#options
    const { savedTokens, tookMs } = await counting
    let work: Work = 'idle'
    try {
      const reservation = await hold(withSavedTokens(volume, savedTokens))
      work = 'useful'
      return reservation
    } finally {
      bounds.charge(accountId, tookMs, work)
    }
  }
}
