import type { Attempt } from './call'
import { type CatalogueModel, defaultPrices } from './catalogue'

/** What one attempt was charged. */
export interface BilledAttempt {
  attempt: string
  model: string
  billing: string
  promptTokens: number
  completionTokens: number
  /** Nano-dollars, rounded up once. */
  nanos: number
  /** The answer was written to its end. */
  complete: boolean
}

/** What a provider charges: sums, and the attempts they consist of, free ones included. */
export interface Bill {
  promptTokens: number
  completionTokens: number
  usd: number
  attempts: BilledAttempt[]
}

/** Tokens a charged attempt produced, undefined when it is free. */
function completionOf(attempt: Attempt): number | undefined {
  if (!attempt.answered) return undefined
  switch (attempt.billing) {
    case 'bill-done':
      return attempt.complete ? attempt.completionTokens : undefined
    case 'bill-full':
      return Math.max(attempt.completionTokens, attempt.tokensSent)
    case 'bill-sent':
      return attempt.tokensSent
    case 'bill-none':
    default:
      return undefined
  }
}

function charge(attempt: Attempt, catalogue: readonly CatalogueModel[]): BilledAttempt {
  const completion = completionOf(attempt)
  const [promptTokens, completionTokens] =
    completion === undefined ? [0, 0] : [attempt.promptTokens, completion]
  const prices = catalogue.find(({ id }) => id === attempt.model) ?? defaultPrices
  // USD per million tokens is the same number as 1,000 nano-dollars per token.
  const nanos = Math.ceil((promptTokens * prices.input + completionTokens * prices.output) * 1000)
  const { id, model, billing, complete } = attempt
  return { attempt: id, model, billing, promptTokens, completionTokens, nanos, complete }
}

/** The bill at today's prices, for one model name or for all. */
export function billOf(
  attempts: readonly Attempt[],
  catalogue: readonly CatalogueModel[],
  model?: string,
): Bill {
  const wanted = attempts.filter((attempt) => model === undefined || attempt.model === model)
  const billed = wanted.map((attempt) => charge(attempt, catalogue))
  const sum = (of: (attempt: BilledAttempt) => number) =>
    billed.reduce((total, attempt) => total + of(attempt), 0)
  return {
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    usd: sum(({ nanos }) => nanos) / 1e9,
    attempts: billed,
  }
}
