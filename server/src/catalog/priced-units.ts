import type { MeasuredRates, Model, Pricing } from './model'
import type { AnswerUnits } from '../wire/answer-units'

/** A model's pricing is one object for as long as it stays the same. */
const unitsByPricing = new WeakMap<Pricing, AnswerUnits | null>()

/**
 * Returns the units that a price charges beside tokens and pieces, in any tier, and that therefore must be counted or
 * measured; undefined for nearly all prices.
 */
export function pricedUnits(pricing: Pricing | null | undefined): AnswerUnits | undefined {
  if (!pricing) return undefined
  if (pricing.tiers === undefined && !isMeasured(pricing)) return undefined
  let units = unitsByPricing.get(pricing)
  if (units === undefined) unitsByPricing.set(pricing, (units = unitsIn(pricing)))
  return units ?? undefined
}

/** Returns the units that a model's price or its cost charges; undefined for nearly all models. */
export function findMeasuredUnits({
  pricing,
  cost,
}: Pick<Model, 'pricing' | 'cost'>): AnswerUnits | undefined {
  const ofPrice = pricedUnits(pricing)
  const ofCost = cost ? pricedUnits(cost.pricing) : undefined
  if (!ofPrice || !ofCost) return ofPrice ?? ofCost
  return {
    characters: ofPrice.characters || ofCost.characters,
    seconds: ofPrice.seconds || ofCost.seconds,
  }
}

const isMeasured = ({ inputCharacters, outputCharacters, second }: MeasuredRates) =>
  (inputCharacters ?? outputCharacters ?? second) !== undefined

function unitsIn({ tiers = [], ...usual }: Pricing): AnswerUnits | null {
  const all: MeasuredRates[] = [usual, ...tiers.map(({ rates }) => rates)]
  const characters = all.some(
    ({ inputCharacters = 0n, outputCharacters = 0n }) => inputCharacters + outputCharacters > 0n,
  )
  const seconds = all.some(({ second = 0n }) => second > 0n)
  return characters || seconds ? { characters, seconds } : null
}
