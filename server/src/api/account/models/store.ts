import type { PublicModelFilters } from './schema'
import { sumRatings } from './rating-sums'
import { showModelsTo, type ModelPorts, type PublicOfferedModels } from './shown-models'
import type { Model } from '../../../catalog/model'
import { selectPrice, minuteOf } from '../../../catalog/price-tiers'
import { ApiError, invalidRequest } from '../../../errors'
import { toPaged, type Page } from '../../../http/paging'

export type CatalogueStore = ReturnType<typeof createCatalogueStore>

/** Finds a model of the caller. Throws `model_not_found`. */
export function findIn(
  offered: PublicOfferedModels,
  id: string | undefined,
  param: string | null,
): Model {
  const model = id === undefined ? undefined : offered.find(id)
  if (model) return model
  throw new ApiError('model_not_found', {
    param,
    message: `There is no model "${id ?? ''}". GET /api/models lists what is there.`,
  })
}

/** Models with the caller's favourites and ratings. Source: contract 6.8. */
export function createCatalogueStore(ports: ModelPorts) {
  const { db, modelsFor } = ports
  return {
    async list(userId: string, filters: PublicModelFilters, page: Page) {
      const offered = await modelsFor(userId)
      const models = await inOrder(await fitting(offered, filters), filters, ports)
      const start = page.before === undefined ? page.offset : behind(models, page.before)
      const wanted = models.slice(start, start + page.limit + 1)
      const { shown, pagination } = toPaged(page, BigInt(models.length), wanted)
      return { models: await showModelsTo(userId, shown, { db, offered }), pagination }
    },
    /** Rejects with `model_not_found`. */
    async get(userId: string, id: string | undefined) {
      const offered = await modelsFor(userId)
      const [shown] = await showModelsTo(userId, [findIn(offered, id, null)], { db, offered })
      return shown
    },
  }
}

async function fitting(
  offered: PublicOfferedModels,
  filters: PublicModelFilters,
): Promise<Model[]> {
  const { provider, category, capability = [], billing_mode: mode, free, callable } = filters
  const search = filters.search?.toLowerCase() ?? ''
  const models = offered.all.filter(
    (model) =>
      (provider === undefined || model.provider === provider) &&
      (category === undefined || model.category === category) &&
      (free === undefined || model.isFree === free) &&
      capability.every((name) => model.capabilities[name]) &&
      (model.id.toLowerCase().includes(search) || model.name.toLowerCase().includes(search)),
  )
  if (mode === undefined && callable === undefined) return models
  const modes = await Promise.all(models.map(async (model) => offered.billingOf(model)))
  return models.filter(
    (_model, at) =>
      (mode === undefined || modes[at] === mode) &&
      (callable === undefined || (modes[at] !== null) === callable),
  )
}

/** Sorts models, which arrive by id; equal ones keep that order. */
async function inOrder(
  models: readonly Model[],
  { sort, prompt_tokens: promptTokens }: PublicModelFilters,
  { db }: ModelPorts,
): Promise<readonly Model[]> {
  if (sort === 'id') return models
  if (sort === 'price') return byPrice(models, promptTokens)
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

/** Sorts by the current price of a prompt of that length, cheapest first; unknown prices come last. */
function byPrice(models: readonly Model[], promptTokens: number): readonly Model[] {
  const conditions = { promptTokens, serviceTier: undefined, minute: minuteOf(Date.now()) }
  const priceOf = ({ isFree, pricing }: Model): number => {
    if (isFree) return 0
    if (!pricing) return Infinity
    const { rates } = selectPrice(pricing, conditions)
    return Number(rates.input + rates.output)
  }
  return models.toSorted((one, other) => compare(priceOf(one), priceOf(other)))
}

const lengthOf = ({ contextLength }: Model) => contextLength ?? 0

/** Sorts by name, or by the longest context. */
const orders = {
  name: (one: Model, other: Model) => compare(one.name.toLowerCase(), other.name.toLowerCase()),
  context: (one: Model, other: Model) => compare(lengthOf(other), lengthOf(one)),
}

function behind(models: readonly Model[], id: string): number {
  const at = models.findIndex((model) => model.id === id)
  if (at >= 0) return at + 1
  const words = 'cursor: the model where it stood is gone; begin at the start of the list.'
  throw invalidRequest('cursor', 'bad_format', words)
}
