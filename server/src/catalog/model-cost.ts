import { sql, type Kysely, type Transaction } from 'kysely'
import type { Model, ModelCost, Pricing } from './model'
import { readPricing, toStoredPricing } from './stored-pricing'
import type { Schema } from '../platform/db/schema'

/** The stored costs of models, at one moment: the operator's, and those of documents that were applied. */
export type ModelCosts = Readonly<Record<ModelCost['source'], ReadonlyMap<string, Pricing>>>

/** Returns the provider's price for a model; null where it is unknown. */
export const costPricingOf = ({ pricing, cost }: Pick<Model, 'pricing' | 'cost'>): Pricing | null =>
  cost === undefined ? pricing : (cost?.pricing ?? null)

const toPublished = (pricing: Pricing | null): ModelCost | null =>
  pricing && { pricing, source: 'published' }

/** Returns the cost of a model whose price is about to be replaced. */
export const keepCost = ({ pricing, cost }: Pick<Model, 'pricing' | 'cost'>): ModelCost | null =>
  cost === undefined ? toPublished(pricing) : cost

/** Returns a model with the published cost of the one that it replaces, where its own is unknown. */
export function inheritCost(model: Model, replacedModel: Model | undefined): Model {
  if (model.cost !== null || !replacedModel) return model
  const cost = keepCost(replacedModel)
  return cost ? { ...model, cost } : model
}

/** Returns a model with its stored cost, the operator's above a published one. */
export function applyStoredCost(model: Model, costs: ModelCosts | undefined): Model {
  if (!costs) return model
  const ofOperator = costs.operator.get(model.id)
  if (ofOperator) return { ...model, cost: { pricing: ofOperator, source: 'operator' } }
  const publishedPricing = costs.published.get(model.id)
  return publishedPricing
    ? { ...model, cost: { pricing: publishedPricing, source: 'published' } }
    : model
}

/** Reads the costs in force, by the database's clock. A damaged one is left out, and reported to `onDamaged`. */
export async function readModelCosts(
  db: Kysely<Schema>,
  onDamaged: (error: unknown) => void,
): Promise<ModelCosts> {
  const { rows } = await sql<{ model_id: string; source: ModelCost['source']; pricing: unknown }>`
    select distinct on (model_id, source) model_id, source, pricing from model_cost
    where effective_at <= now() order by model_id, source, effective_at desc`.execute(db)
  const costs = { operator: new Map<string, Pricing>(), published: new Map<string, Pricing>() }
  for (const { model_id: id, source, pricing: column } of rows) {
    try {
      const pricing = readPricing(column)
      if (pricing) costs[source].set(id, pricing)
    } catch (error) {
      onDamaged(error)
    }
  }
  return costs
}

/** Stores the operator's cost of a model from now on; null for the published one. */
export async function setModelCost(
  trx: Transaction<Schema>,
  modelId: string,
  pricing: Pricing | null,
): Promise<void> {
  await trx
    .deleteFrom('model_cost')
    .where('model_id', '=', modelId)
    .where('source', '=', 'operator')
    .execute()
  if (!pricing) return
  await trx
    .insertInto('model_cost')
    .values({ model_id: modelId, source: 'operator', pricing: toStoredPricing(pricing) })
    .execute()
}
