import type { Category, Model, Rates } from './model'

/** The estimated use of a ranking. */
export interface RankingUse {
  inputTokens: number
  searchUnits: number
}

/** The price by which models of a kind are compared, in nano-dollars: its rates for quantities that all of the kind have. */
export interface ComparablePrice {
  input: bigint
  output: bigint
}

type Compare = (rates: Rates, ranking: RankingUse) => ComparablePrice

const million = 1_000_000n

/** A search unit that is full: 100 documents of 500 tokens. https://cohere.com/pricing */
const fullUnit: RankingUse = { inputTokens: 50_000, searchUnits: 1 }

const charactersPerToken = 4n

/** Speech of 15 characters a second, with Gemini's tokens. https://ai.google.dev/gemini-api/docs/speech-generation */
const charactersPerSecond = 15n
const spokenTokensPerSecond = 25n

/**
 * Tokens of a second that is transcribed, and of its text: by them the prices of OpenAI's models are the prices by minute
 * that it publishes beside. https://platform.openai.com/docs/pricing
 */
const heardTokensPerSecond = 10n
const textTokensPerSecond = 4n

/** An image of medium quality. https://platform.openai.com/docs/guides/image-generation */
const tokensPerImage = 1056n
const pixelsPerImage = 1024n * 1024n
const imageTokensPerPromptToken = 10n

const compareTokens: Compare = ({
  input,
  output,
  inputCharacters = 0n,
  outputCharacters = 0n,
}) => ({
  input: input + inputCharacters * charactersPerToken,
  output: output + outputCharacters * charactersPerToken,
})

const compareRanking: Compare = (rates, { inputTokens, searchUnits }) => {
  const { search = 0n } = rates
  const { input, output } = compareTokens(rates, fullUnit)
  const unitPrice = search * BigInt(searchUnits) * million
  return { input: input + unitPrice / BigInt(Math.max(1, inputTokens)), output }
}

const compareSpeech: Compare = ({ input, output, inputCharacters = 0n, audioOutput = output }) => ({
  input: inputCharacters + input / charactersPerToken,
  output: (audioOutput * spokenTokensPerSecond) / charactersPerSecond,
})

const compareTranscription: Compare = ({ input, output, audioInput = input, audioHour = 0n }) => ({
  input: audioInput + (audioHour * million) / (heardTokensPerSecond * 3600n),
  output: (output * textTokensPerSecond) / heardTokensPerSecond,
})

const compareImages: Compare = (rates) => {
  const { input, output, imageOutput = output, madeImage = 0n, madeMegapixel = 0n } = rates
  const ofImages = madeImage * million + madeMegapixel * pixelsPerImage
  return {
    input: input / imageTokensPerPromptToken,
    output: imageOutput + ofImages / tokensPerImage,
  }
}

const comparisons: Readonly<Partial<Record<Category, Compare>>> = {
  rerank: compareRanking,
  speech: compareSpeech,
  transcription: compareTranscription,
  image: compareImages,
}

/**
 * Returns the price of what a model reads and of what it makes. For a reranker it includes the search units of a million
 * tokens, as many as `ranking` has for its own. Source: contract 10.4.
 */
export const toComparablePrice = (
  { category }: Pick<Model, 'category'>,
  rates: Rates,
  ranking: RankingUse = fullUnit,
): ComparablePrice => (comparisons[category] ?? compareTokens)(rates, ranking)

/** Returns the price of both together. */
export function toPriceSum(
  model: Pick<Model, 'category'>,
  rates: Rates,
  ranking?: RankingUse,
): bigint {
  const { input, output } = toComparablePrice(model, rates, ranking)
  return input + output
}
