import type { Category, Model, Pricing } from './model'

/**
 * Whether a pricing is a price: nothing below zero, and something for what is read and for what is
 * written, or for each request. Zero is the price of models that say that they are free (M37).
 */
export function isPrice(pricing: Pricing, category: Category): boolean {
  const { input, output, request = 0n, tiers = [] } = pricing
  if ([pricing, ...tiers.map(({ rates }) => rates)].some(isBelowZero)) return false
  const isWhole = input > 0n && (category === 'embedding' || output > 0n)
  return isWhole || request > 0n
}

const isBelowZero = (rates: object) =>
  Object.values(rates).some((rate) => typeof rate === 'bigint' && rate < 0n)

/** Whether a platform connection may serve a model: it is free, or it has a price. */
export const isServable = ({
  isFree,
  pricing,
  category,
}: Pick<Model, 'isFree' | 'pricing' | 'category'>): boolean =>
  isFree || (pricing !== null && isPrice(pricing, category))
