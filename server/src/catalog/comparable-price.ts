import type { Model, Rates } from './model'

/** The estimated use of a ranking. */
export interface RankingUse {
  inputTokens: number
  searchUnits: number
}

/** A search unit that is full: 100 documents of 500 tokens. https://cohere.com/pricing */
const fullUnit: RankingUse = { inputTokens: 50_000, searchUnits: 1 }

/** The tokens that most models read of an hour of sound. */
const tokensPerHour = 36_000n

/**
 * The price of input by which models are compared, in nano-dollars per 1,000,000 tokens. Of a reranker it includes the
 * search units for so many tokens, as many as `ranking` has for its own; of a model that transcribes it is that of sound,
 * by token or by time. Source: contract 10.4.
 */
export function toInputPrice(
  { category }: Pick<Model, 'category'>,
  rates: Pick<Rates, 'input' | 'search' | 'audioInput' | 'audioHour'>,
  ranking: RankingUse = fullUnit,
): bigint {
  const { input, search = 0n, audioInput = input, audioHour = 0n } = rates
  if (category === 'transcription') return audioInput + (audioHour * 1_000_000n) / tokensPerHour
  if (category !== 'rerank' || search === 0n) return input
  const unitPrice = search * BigInt(ranking.searchUnits) * 1_000_000n
  return input + unitPrice / BigInt(Math.max(1, ranking.inputTokens))
}
