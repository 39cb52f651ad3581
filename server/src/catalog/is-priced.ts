import { writesText, type Category, type Model, type Pricing } from './model'

/**
 * Whether a pricing is a price: nothing below zero, and something for the prompt and for the answer, for each request
 * or for its time. Zero is the price only of models marked as free (M37).
 */
export function isPrice(pricing: Pricing, category: Category): boolean {
  const { request = 0n, second = 0n, tiers = [] } = pricing
  if ([pricing, ...tiers.map(({ rates }) => rates)].some(isBelowZero)) return false
  return request + second > 0n || pricesKind(pricing, category)
}

/** Whether a pricing covers what a model of a category reads and makes. */
function pricesKind(pricing: Pricing, category: Category): boolean {
  const { input, output, inputCharacters = 0n, outputCharacters = 0n } = pricing
  const { search = 0n, audioHour = 0n } = pricing
  const hasInputPrice = input + inputCharacters > 0n
  switch (category) {
    case 'image':
      // The prompt is the smallest part of what an image costs.
      return priceOfImages(pricing) > 0n
    case 'rerank':
      // A search unit is all that some rankings cost, time all that some transcriptions do.
      return hasInputPrice || search > 0n
    case 'transcription':
      return hasInputPrice || audioHour > 0n
    default:
      return hasInputPrice && (!writesText(category) || output + outputCharacters > 0n)
  }
}

const priceOfImages = ({
  madeImage = 0n,
  madeMegapixel = 0n,
  output,
  imageOutput = output,
}: Pricing) => madeImage + madeMegapixel + imageOutput

const isBelowZero = (rates: object) =>
  Object.values(rates).some((rate) => typeof rate === 'bigint' && rate < 0n)

/** Whether a platform connection may serve a model: it is free, or it has a price. */
export const isServable = ({
  isFree,
  pricing,
  category,
}: Pick<Model, 'isFree' | 'pricing' | 'category'>): boolean =>
  isFree || (pricing !== null && isPrice(pricing, category))
