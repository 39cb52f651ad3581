import { sql, type Kysely } from 'kysely'
import type { Model, Pricing } from './model'
import { keepCost } from './model-cost'
import { readPricing } from './stored-pricing'
import type { Schema } from '../platform/db/schema'

/** The operator's prices for models, at one moment. */
export interface PriceSteps {
  /** By model; null for no price. They override the model's other prices. */
  inForce: ReadonlyMap<string, Pricing | null>
  /** The time of the next one in milliseconds; undefined where none is planned. */
  nextInMs: number | undefined
}

/**
 * Reads the operator's prices by the database's clock: on all nodes a price begins at one moment. A damaged price
 * counts as none, and is reported to `onDamaged`.
 */
export async function readPriceSteps(
  db: Kysely<Schema>,
  onDamaged: (error: unknown) => void,
): Promise<PriceSteps> {
  const [steps, next] = await Promise.all([
    sql<{ model_id: string; pricing: unknown }>`
      select distinct on (model_id) model_id, pricing from model_price
      where effective_at <= now() order by model_id, effective_at desc`.execute(db),
    sql<{ ms: number | null }>`
      select (extract(epoch from min(effective_at) - now()) * 1000)::float8 as ms
      from model_price where effective_at > now()`.execute(db),
  ])
  const read = (pricing: unknown) => {
    try {
      return readPricing(pricing)
    } catch (error) {
      onDamaged(error)
      return null
    }
  }
  return {
    inForce: new Map(steps.rows.map((row) => [row.model_id, read(row.pricing)])),
    nextInMs: next.rows[0]?.ms ?? undefined,
  }
}

/** Returns a model at the operator's price for it. */
export function applyPriceStep(model: Model, steps: PriceSteps | undefined): Model {
  const pricing = steps?.inForce.get(model.id)
  return pricing === undefined ? model : { ...model, pricing, cost: keepCost(model) }
}
