import type { PublicModelFilters } from './schema'
import { pricesAt, sortModels } from './order'
import { readCatalogueModels, type ModelPorts, type PublicOfferedModels } from './catalogue-models'
import type { Model } from '../../../catalog/model'
import { ApiError, invalidRequest } from '../../../errors'
import { toPaged, type Page } from '../../../http/paging'

export type CatalogueStore = ReturnType<typeof createCatalogueStore>

/** Finds a model of the caller. Rejects with `model_not_found`, which names similar ones. */
export async function findIn(
  offered: PublicOfferedModels,
  id: string | undefined,
  param: string | null,
): Promise<Model> {
  const model = id === undefined ? undefined : offered.find(id)
  if (model) return model
  const error = modelNotFound(id, param)
  throw id === undefined ? error : await offered.suggest(error, id)
}

const modelNotFound = (id: string | undefined, param: string | null) =>
  new ApiError('model_not_found', {
    param,
    message: `Model "${id ?? ''}" does not exist. GET /api/models lists the available models.`,
  })

/** Models with the caller's favourites and ratings. Source: contract 6.8. */
export function createCatalogueStore(ports: ModelPorts) {
  const { modelsFor } = ports
  return {
    async list(userId: string, filters: PublicModelFilters, page: Page) {
      const offered = await modelsFor(userId)
      const models = await sortModels(await fitting(offered, filters), filters, ports)
      const start = page.before === undefined ? page.offset : behind(models, page.before)
      const slice = models.slice(start, start + page.limit + 1)
      const { items, pagination } = toPaged(page, BigInt(models.length), slice)
      return { models: await readCatalogueModels(userId, items, { ...ports, offered }), pagination }
    },
    /** Rejects with `model_not_found`. */
    async get(userId: string, id: string | undefined) {
      const offered = await modelsFor(userId)
      const [model] = await readCatalogueModels(userId, [await findIn(offered, id, null)], {
        ...ports,
        offered,
      })
      if (!model) throw modelNotFound(id, null)
      return model
    },
  }
}

const nanosPerUsd = 1e9

async function fitting(
  offered: PublicOfferedModels,
  filters: PublicModelFilters,
): Promise<Model[]> {
  const { provider, category, capability = [], billing_mode: mode, free, callable } = filters
  const search = filters.search?.toLowerCase() ?? ''
  const { min_context: minContext, max_price: maxPrice } = filters
  const priceOf = pricesAt(filters.prompt_tokens)
  const models = offered.all.filter(
    (model) =>
      (provider === undefined || model.provider === provider) &&
      (category === undefined || model.category === category) &&
      (free === undefined || model.isFree === free) &&
      (minContext === undefined || (model.contextLength ?? 0) >= minContext) &&
      (maxPrice === undefined || priceOf(model) <= maxPrice * nanosPerUsd) &&
      capability.every((name) => model.capabilities[name]) &&
      (model.id.toLowerCase().includes(search) || model.name.toLowerCase().includes(search)),
  )
  if (mode === undefined && callable === undefined) return models
  const billings = await Promise.all(models.map(async (model) => offered.billingOf(model)))
  return models.filter(
    (model, at) =>
      (mode === undefined || billings[at]?.mode === mode) &&
      (callable === undefined || (billings[at] !== null && !offered.isRetired(model)) === callable),
  )
}

function behind(models: readonly Model[], id: string): number {
  const at = models.findIndex((model) => model.id === id)
  if (at >= 0) return at + 1
  const message = 'cursor: the model at this position was removed; start again without a cursor.'
  throw invalidRequest('cursor', 'bad_format', message)
}
