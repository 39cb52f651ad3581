import type { Kysely } from 'kysely'
import type { ModelBillingMode, CatalogueModel } from './schema'
import type { ModelPerformance, ReadPerformance } from './performance'
import { noRatings, sumRatings, type RatingSum } from './rating-sums'
import { writesText, type Model } from '../../../catalog/model'
import { toPricingAnswer, toUnpricedAnswer } from '../../../catalog/pricing-fields'
import type { Schema } from '../../../platform/db/schema'
import type { ApiError } from '../../../errors'
import { payerOf, type PayerKind } from '../../../http/payer'
import { isId } from '../../../platform/db/id'
import { toTimestamp } from '../../../http/fields'

/** How a call is paid: `payer` is the paying account; null for none. */
interface PublicBilling {
  mode: ModelBillingMode
  payer: string | null
}

/** A snapshot of the models that an account may call. */
export interface PublicOfferedModels {
  /** By id. */
  all: readonly Model[]
  find: (id: string) => Model | undefined
  hasCollection: (name: string) => Promise<boolean>
  /** The billing of a call now, null where no connection serves the model. */
  billingOf: (model: Model) => PublicBilling | null | Promise<PublicBilling | null>
  /** Whether a call would go to a model whose provider has switched it off by now. */
  isRetired: (model: Model) => boolean
  /** The reason that a call for a model without a billing mode would be rejected, or that the provider may reject it. */
  refusalOf: (model: Model) => NonNullable<CatalogueModel['unavailable']>
  /** Adds the names like an unknown one to the error about it. */
  suggest: (error: ApiError<'model_not_found'>, name: string) => Promise<ApiError>
}

/** Rejects with `gateway_unavailable`. */
export type PublicModelsFor = (userId: string) => Promise<PublicOfferedModels>

export interface ModelPorts {
  db: Kysely<Schema>
  modelsFor: PublicModelsFor
  performance: ReadPerformance
}

interface OfCaller {
  billingMode: ModelBillingMode | null
  payer: PayerKind | null
  payerName: string | null
  unavailable: CatalogueModel['unavailable']
  performance: ModelPerformance | undefined
  isFavorite: boolean
  sum: RatingSum
}

/** A free model costs zero; a model with an unknown price has null. */
const toPricing = ({ pricing, isFree }: Model): CatalogueModel['pricing'] =>
  pricing ? toPricingAnswer(pricing) : toUnpricedAnswer(isFree ? 0 : null)

const toTime = (seconds: number) => toTimestamp(new Date(seconds * 1000))

const toCatalogueModel = (
  model: Model,
  { billingMode, payer, payerName, unavailable, performance, isFavorite, sum }: OfCaller,
): CatalogueModel => ({
  id: model.id,
  name: model.name,
  provider: model.provider,
  // The catalogue has no descriptions yet.
  description: null,
  category: model.category,
  context_length: writesText(model.category) ? model.contextLength : null,
  max_input_tokens: model.maxInputTokens,
  max_output_tokens: model.maxOutputTokens,
  capabilities: model.capabilities,
  pricing: toPricing(model),
  is_free: model.isFree,
  billing_mode: billingMode,
  payer,
  payer_name: payerName,
  unavailable,
  performance: performance ?? null,
  is_favorite: isFavorite,
  rating: { average: sum.average, count: sum.count },
  deprecated_at: model.deprecatedAt === null ? null : toTime(model.deprecatedAt),
  created_at: toTime(model.createdAt),
})

interface CatalogueSources extends Pick<ModelPorts, 'db' | 'performance'> {
  offered: PublicOfferedModels
}

/** Shows models to a caller, in the given order. */
export async function readCatalogueModels(
  userId: string,
  models: readonly Model[],
  { db, offered, performance }: CatalogueSources,
): Promise<CatalogueModel[]> {
  if (models.length === 0) return []
  const ids = models.map(({ id }) => id)
  const [favorites, sums, billings, measured] = await Promise.all([
    db
      .selectFrom('model_favorite')
      .select('model_id')
      .where('user_id', '=', userId)
      .where('model_id', 'in', ids)
      .execute(),
    sumRatings(db, ids),
    Promise.all(models.map(async (model) => offered.billingOf(model))),
    performance(),
  ])
  const favored = new Set(favorites.map((row) => row.model_id))
  const organizations = await readPayerNames(
    db,
    billings.flatMap((billing) => billing?.payer ?? []),
  )
  return models.map((model, at) => {
    const { mode: billingMode, payer: accountId } = billings[at] ?? { mode: null, payer: null }
    return toCatalogueModel(model, {
      billingMode,
      payer: payerOf({ billing_mode: billingMode, account_id: accountId, user_id: userId }),
      payerName: organizations.get(accountId ?? '') ?? null,
      unavailable:
        billingMode === null || offered.isRetired(model) ? offered.refusalOf(model) : null,
      performance: measured.get(model.id),
      isFavorite: favored.has(model.id),
      sum: sums.get(model.id) ?? noRatings,
    })
  })
}

/** Reads the names of the organizations among the accounts that pay. */
async function readPayerNames(
  db: Kysely<Schema>,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(accountIds)].filter((id) => isId('org', id))
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('organization')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
