import { codes } from './answer-counts'
import { Bounded, other } from './bounded-labels'
import { Histogram } from './histogram'
import type { UsageEvent } from '../ledger/usage-event'
import type { LogValues } from '../request-logs/log-record'
import type { TokenCounts } from '../wire/usage'

/** The maximum number of models with figures of their own; the first that were used. */
export const maxModels = 200
/** Providers are the registry's, and those that operators add. */
const maxProviders = 64
/** The provider's label for a request that reached no provider. */
const noProvider = 'none'

export const tokenKinds = [
  ['input', 'input'],
  ['cachedInput', 'cached_input'],
  ['cacheWrite', 'cache_write'],
  ['cacheWriteLong', 'cache_write_1h'],
  ['output', 'output'],
  ['reasoning', 'reasoning'],
  ['audioInput', 'audio_input'],
  ['audioOutput', 'audio_output'],
  ['imageInput', 'image_input'],
  ['imageOutput', 'image_output'],
] as const satisfies readonly (readonly [keyof TokenCounts, string])[]

/** The outcomes of attempts; any other counts as the last. */
export const outcomes: readonly string[] = ['ok', 'cancelled', ...codes, other]
const outcomeAt: ReadonlyMap<string, number> = new Map(outcomes.map((name, at) => [name, at]))
const indexOfOther = outcomes.length - 1

const durationBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
]
const firstTokenBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48]

/** Counts of one model's requests. */
export class ModelCounts {
  readonly model: string
  readonly provider: string
  readonly requests = { success: 0, error: 0, cancelled: 0 }
  readonly tokens = new Float64Array(tokenKinds.length)
  /** Tokens of prompts, of all kinds. */
  promptTokens = 0
  /** Nano-dollars: whole numbers, exact up to 9 million USD. */
  cost = 0
  /** Nano-dollars that the prompt cache saved in requests where it paid off, and its extra cost in the others. */
  cacheSavings = 0
  cacheSurcharge = 0
  images = 0
  /** Milliseconds of the sound that was transcribed. */
  transcribedMs = 0
  /** Unicode code points of the texts that were spoken, and milliseconds of their sound. */
  speechCharacters = 0
  speechMs = 0
  estimated = 0
  /** Answers of a model that has a price for which no usage was counted. */
  withoutUsage = 0
  readonly duration = new Histogram(durationBounds)
  readonly firstToken = new Histogram(firstTokenBounds)

  constructor(model: string, provider: string) {
    this.model = model
    this.provider = provider
  }

  /** Counts a prompt, and the `savings` of its cache in nano-dollars; below zero where it cost more. */
  countPrompt(tokens: number, savings: bigint): void {
    this.promptTokens += tokens
    if (savings > 0n) this.cacheSavings += Number(savings)
    else if (savings < 0n) this.cacheSurcharge -= Number(savings)
  }

  /** Counts what a request made, transcribed or spoke. */
  countMedia({ images, soundMs, speechCharacters, speechMs }: LogValues): void {
    if (images !== null) this.images += images
    if (soundMs !== null) this.transcribedMs += soundMs
    if (speechCharacters !== null) this.speechCharacters += speechCharacters
    if (speechMs !== null) this.speechMs += speechMs
  }

  countUsage({ tokens, cost, estimated, pricing, outcome }: UsageEvent): void {
    let sum = 0
    for (let at = 0; at < tokenKinds.length; at++) {
      const count = tokens[tokenKinds[at]?.[0] ?? 'input']
      this.tokens[at] = (this.tokens[at] ?? 0) + count
      sum += count
    }
    if (cost > 0n) this.cost += Number(cost)
    if (estimated) this.estimated++
    if (sum === 0 && outcome === 'ok' && pricing !== null) this.withoutUsage++
  }
}

/** The outcomes of the attempts at one provider. */
export class ProviderCounts {
  readonly provider: string
  readonly attempts = new Float64Array(outcomes.length)
  /** Attempts that another candidate's attempt followed. */
  readonly failovers = new Float64Array(outcomes.length)

  constructor(provider: string) {
    this.provider = provider
  }

  countAttempt({ outcome, reason }: UsageEvent): void {
    const hasFailedOver = outcome === 'failed_over'
    const at = outcomeAt.get(hasFailedOver ? (reason ?? other) : outcome) ?? indexOfOther
    this.attempts[at] = (this.attempts[at] ?? 0) + 1
    if (hasFailedOver) this.failovers[at] = (this.failovers[at] ?? 0) + 1
  }
}

/**
 * Counts requests to models, their attempts and their usage. A model has figures of its own if it is in the
 * platform's catalogue: names that callers choose, or bring, make no figures.
 */
export class UsageCounts {
  readonly #isCatalogued: (modelId: string) => boolean
  readonly #models: Bounded<ModelCounts>
  readonly #others = new Bounded(maxProviders, (name) => new ModelCounts(other, name))
  readonly #unrouted = new ModelCounts(noProvider, noProvider)
  readonly #providers = new Bounded(maxProviders, (name) => new ProviderCounts(name))

  constructor(isCatalogued: (modelId: string) => boolean) {
    this.#isCatalogued = isCatalogued
    this.#models = new Bounded(maxModels, (id) => new ModelCounts(id, id.split('/')[0] ?? other))
  }

  #of(model: string, provider: string): ModelCounts {
    const knownModel = this.#models.findOwn(model)
    if (knownModel) return knownModel
    const own = this.#isCatalogued(model) ? this.#models.own(model) : undefined
    return own ?? this.#others.of(provider)
  }

  /** An attempt has ended. */
  countAttempt(event: UsageEvent): void {
    this.#of(event.model, event.provider).countUsage(event)
    this.#providers.of(event.provider).countAttempt(event)
  }

  /** A request of an authenticated caller has ended. */
  countRequest(values: LogValues, durationMs: number): void {
    const { model, provider, status, firstTokenMs } = values
    const counts = provider === null ? this.#unrouted : this.#of(model, provider)
    counts.requests[status]++
    if (provider === null) return
    counts.countPrompt(values.inputTokens, values.cacheSavings)
    counts.countMedia(values)
    counts.duration.observe(durationMs / 1000)
    if (firstTokenMs !== null) counts.firstToken.observe(firstTokenMs / 1000)
  }

  models(): ModelCounts[] {
    return [...this.#models.all(), ...this.#others.all(), this.#unrouted]
  }

  providers(): ProviderCounts[] {
    return this.#providers.all()
  }
}
