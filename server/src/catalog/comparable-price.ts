import type { Model, Rates } from './model'

/** The estimated use of a ranking. */
export interface RankingUse {
  inputTokens: number
  searchUnits: number
}

/** A search unit that is full: 100 documents of 500 tokens. https://cohere.com/pricing */
const fullUnit: RankingUse = { inputTokens: 50_000, searchUnits: 1 }

/**
 * The price of input by which models are compared, in nano-dollars per 1,000,000 tokens. Of a reranker it includes the
 * search units for so many tokens, as many as `ranking` has for its own. Source: contract 10.4.
 */
export function toInputPrice(
  { category }: Pick<Model, 'category'>,
  { input, search = 0n }: Pick<Rates, 'input' | 'search'>,
  ranking: RankingUse = fullUnit,
): bigint {
  if (category !== 'rerank' || search === 0n) return input
  const unitPrice = search * BigInt(ranking.searchUnits) * 1_000_000n
  return input + unitPrice / BigInt(Math.max(1, ranking.inputTokens))
}
