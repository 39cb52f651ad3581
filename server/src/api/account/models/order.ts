import { sumRatings } from './rating-sums'
import type { ModelPerformance } from './performance'
import type { ModelPorts } from './catalogue-models'
import type { PublicModelFilters } from './schema'
import { toPriceSum } from '../../../catalog/comparable-price'
import type { Model } from '../../../catalog/model'
import { minuteOf, selectPrice } from '../../../catalog/price-tiers'

/** Sorts models, which arrive by id; equal ones keep that order, and unknown values come last. */
export async function sortModels(
  models: readonly Model[],
  { sort, prompt_tokens: promptTokens }: PublicModelFilters,
  { db, performance }: Pick<ModelPorts, 'db' | 'performance'>,
): Promise<readonly Model[]> {
  if (sort === 'id') return models
  if (sort === 'price') {
    const priceOf = pricesAt(promptTokens)
    return models.toSorted((one, other) => compare(priceOf(one), priceOf(other)))
  }
  if (sort === 'latency' || sort === 'uptime') {
    const valueOf = measures[sort]
    const knownPerformance = await performance()
    const of = ({ id }: Model) => valueOf(knownPerformance.get(id))
    return models.toSorted((one, other) => compare(of(one), of(other)))
  }
  if (sort !== 'rating') return models.toSorted(orders[sort])
  const sums = await sumRatings(db)
  const averageOf = ({ id }: Model) => sums.get(id)?.average ?? 0
  const countOf = ({ id }: Model) => sums.get(id)?.count ?? 0
  return models.toSorted(
    (one, other) =>
      compare(averageOf(other), averageOf(one)) || compare(countOf(other), countOf(one)),
  )
}

const compare = <Value extends string | number>(one: Value, other: Value) =>
  one === other ? 0 : one < other ? -1 : 1

/** Returns a function for the current price of input and output together; an unknown price is infinite. Source: contract 10.4. */
export function pricesAt(promptTokens: number) {
  const conditions = { promptTokens, serviceTier: undefined, minute: minuteOf(Date.now()) }
  return (model: Model): number => {
    const { isFree, pricing } = model
    if (isFree) return 0
    if (!pricing) return Infinity
    const { rates } = selectPrice(pricing, conditions)
    return Number(toPriceSum(model, rates))
  }
}

/** The quickest, and the most reliable, first. */
const measures = {
  latency: (of: ModelPerformance | undefined) => of?.latency_ms ?? Infinity,
  uptime: (of: ModelPerformance | undefined) => -(of?.uptime_percent ?? -Infinity),
}

const lengthOf = ({ contextLength }: Model) => contextLength ?? 0

/** Sorts by name, or by the longest context. */
const orders = {
  name: (one: Model, other: Model) => compare(one.name.toLowerCase(), other.name.toLowerCase()),
  context: (one: Model, other: Model) => compare(lengthOf(other), lengthOf(one)),
}
