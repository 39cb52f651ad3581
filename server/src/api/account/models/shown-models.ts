import type { Kysely } from 'kysely'
import type { ShownBillingMode, ShownModel as Shown } from './schema'
import { noRatings, sumRatings, type RatingSum } from './rating-sums'
import type { Model } from '../../../catalog/model'
import { toPricingAnswer, toUnpricedAnswer } from '../../../catalog/pricing-fields'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'

/** A snapshot of the models that an account may call. */
export interface PublicOfferedModels {
  /** By id. */
  all: readonly Model[]
  find: (id: string) => Model | undefined
  hasCollection: (name: string) => Promise<boolean>
  /** The billing mode of a call now, null where no connection serves the model. */
  billingOf: (model: Model) => ShownBillingMode | null | Promise<ShownBillingMode | null>
}

/** Rejects with `gateway_unavailable`. */
export type PublicModelsFor = (userId: string) => Promise<PublicOfferedModels>

export interface ModelPorts {
  db: Kysely<Schema>
  modelsFor: PublicModelsFor
}

interface OfCaller {
  billingMode: ShownBillingMode | null
  isFavorite: boolean
  sum: RatingSum
}

/** A free model costs zero; a model with an unknown price has null. */
const toPricing = ({ pricing, isFree }: Model): Shown['pricing'] =>
  pricing ? toPricingAnswer(pricing) : toUnpricedAnswer(isFree ? 0 : null)

const toTime = (seconds: number) => toTimestamp(new Date(seconds * 1000))

const toShown = (model: Model, { billingMode, isFavorite, sum }: OfCaller): Shown => ({
  id: model.id,
  name: model.name,
  provider: model.provider,
  // The catalogue has no descriptions yet.
  description: null,
  category: model.category,
  context_length: model.category === 'embedding' ? null : model.contextLength,
  max_output_tokens: model.maxOutputTokens,
  capabilities: model.capabilities,
  pricing: toPricing(model),
  is_free: model.isFree,
  billing_mode: billingMode,
  is_favorite: isFavorite,
  rating: { average: sum.average, count: sum.count },
  deprecated_at: model.deprecatedAt === null ? null : toTime(model.deprecatedAt),
  created_at: toTime(model.createdAt),
})

/** Shows models to a caller, in the given order. */
export async function showModelsTo(
  userId: string,
  models: readonly Model[],
  { db, offered }: { db: Kysely<Schema>; offered: PublicOfferedModels },
): Promise<Shown[]> {
  if (models.length === 0) return []
  const ids = models.map(({ id }) => id)
  const [favorites, sums, modes] = await Promise.all([
    db
      .selectFrom('model_favorite')
      .select('model_id')
      .where('user_id', '=', userId)
      .where('model_id', 'in', ids)
      .execute(),
    sumRatings(db, ids),
    Promise.all(models.map(async (model) => offered.billingOf(model))),
  ])
  const favored = new Set(favorites.map((row) => row.model_id))
  return models.map((model, at) =>
    toShown(model, {
      billingMode: modes[at] ?? null,
      isFavorite: favored.has(model.id),
      sum: sums.get(model.id) ?? noRatings,
    }),
  )
}
