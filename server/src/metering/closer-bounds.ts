import type { OwnerShare, Work } from '../limits/event-loop-shares'
import type { TokenCounter } from './token-counter'
import type { Vocabulary } from './token-worker'
import type { TokenBounds } from './worst-case'
import type { Model } from '../catalog/model'

const defaultBounds = {
  /** A count may take this long, once its vocabulary is loaded. */
  deadlineMs: 1000,
  /** The counts at the same time, in all and of one account. */
  max: 8,
  maxOfAccount: 4,
}

interface Options extends Partial<typeof defaultBounds> {
  counter: Pick<TokenCounter, 'bound'>
  shares: { shareOf: (owner: string) => Pick<OwnerShare, 'charge' | 'note'> }
}

/** The models that read in a published vocabulary at their maker's, by the names that it has for them. */
const vocabularies: readonly (readonly [RegExp, Vocabulary])[] = [
  [/^(?:chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|o[134](?:-|$))/, 'o200k_base'],
  [/^(?:gpt-4(?:-|$)|gpt-3\.5|gpt-35|text-embedding-)/, 'cl100k_base'],
]

/** Returns the vocabulary in which a provider counts the prompts of a model. */
export function vocabularyOf(
  provider: { key: string },
  { upstreamModel }: Pick<Model, 'upstreamModel'>,
): Vocabulary {
  if (provider.key !== 'openai' && provider.key !== 'azure') return 'any'
  return vocabularies.find(([name]) => name.test(upstreamModel))?.[1] ?? 'any'
}

/** The least that a bound can be, of the bytes of its texts. By any vocabulary that is exact, else far below the usual. */
const leastShare: Readonly<Record<Vocabulary, number>> = {
  any: 0.4,
  o200k_base: 0.125,
  cl100k_base: 0.125,
}

/** A request whose texts are to be counted. */
interface Counting {
  accountId: string
  texts: readonly string[]
  vocabulary: Vocabulary
}

/** The result of a count. */
export interface CloserBound {
  /** By how much the texts have fewer tokens than bytes; 0 where they could not be counted. */
  savedTokens: number
  tookMs: number
}

/** Texts have fewer tokens than bytes by at most so many. */
export const maxSavedTokens = (bytes: number, vocabulary: Vocabulary): number =>
  Math.floor(bytes * (1 - leastShare[vocabulary]))

/** The volume of a request whose prompts have fewer tokens than bytes. */
export const withSavedTokens = (volume: TokenBounds, savedTokens: number): TokenBounds => {
  const inputTokens = volume.inputTokens - savedTokens
  return {
    ...volume,
    inputTokens,
    // One prompt is not longer than all of them.
    maxPromptTokens: Math.min(volume.maxPromptTokens, inputTokens),
    inputTokensByBytes: volume.inputTokens,
  }
}

/**
 * Counts the tokens of requests whose hold by bytes cannot be paid, off the event loop: few at a time, and within the
 * share of work that an account has for requests that are refused.
 */
export class CloserBounds {
  readonly #options: Required<Options>
  readonly #running = new Map<string, number>()
  #total = 0

  constructor(options: Options) {
    this.#options = { ...defaultBounds, ...options }
  }

  /** Returns whether a request of an account may be counted: false where that has used its share, or too many run. */
  mayCount(accountId: string): boolean {
    const { max, maxOfAccount, shares } = this.#options
    if (this.#total >= max || this.#ofAccount(accountId) >= maxOfAccount) return false
    return shares.shareOf(accountId).charge(0, 'idle') <= 0
  }

  /** Never rejects. */
  count(counting: Counting): Promise<CloserBound> {
    const { accountId } = counting
    this.#total += 1
    this.#running.set(accountId, this.#ofAccount(accountId) + 1)
    return this.#count(counting).finally(() => this.#leave(accountId))
  }

  /** Charges work to an account: `idle` where its request is refused all the same. */
  charge(accountId: string, ms: number, kind: Work): void {
    this.#options.shares.shareOf(accountId).note(ms, kind)
  }

  #ofAccount(accountId: string): number {
    return this.#running.get(accountId) ?? 0
  }

  async #count({ texts, vocabulary }: Counting): Promise<CloserBound> {
    const { counter, deadlineMs } = this.#options
    const startedAtMs = performance.now()
    const bound = await counter.bound(texts, { encoding: vocabulary, deadlineMs })
    // A full queue answers at once.
    const waitedMs = Math.min(deadlineMs, performance.now() - startedAtMs)
    if (!bound) return { savedTokens: 0, tookMs: waitedMs }
    const bytes = bytesOf(texts)
    return { savedTokens: Math.max(0, bytes - bound.maxTokens), tookMs: bound.tookMs }
  }

  #leave(accountId: string): void {
    this.#total -= 1
    const otherAccounts = this.#ofAccount(accountId) - 1
    if (otherAccounts > 0) this.#running.set(accountId, otherAccounts)
    else this.#running.delete(accountId)
  }
}

/** The bytes of texts in UTF-8. */
export const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
