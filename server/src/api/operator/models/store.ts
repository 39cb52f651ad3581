import type { Kysely, Transaction } from 'kysely'
import { listModels, type ModelFilter } from './list'
import { addPrice, priceMissing } from './prices'
import type { ChangedModel, NewModel } from './schema'
import { requireModel, toModelAnswer } from './require-model'
import type { Catalog } from '../../../catalog/catalog'
import { capabilities, type Capability, type Model } from '../../../catalog/model'
import { setModelCost } from '../../../catalog/model-cost'
import { toPricing } from '../../../catalog/pricing-fields'
import { isServable } from '../../../catalog/is-priced'
import { toStoredPricing } from '../../../catalog/stored-pricing'
import type { Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'
import { noteCreated } from '../../../platform/db/background-work'
import { invalidRequest } from '../../../errors'
import type { Page } from '../../../http/paging'
import { splitModelId } from '../../../wire/model-id'

const toCapabilities = (
  changes: Partial<Record<Capability, boolean>>,
  current: Readonly<Partial<Record<Capability, boolean>>>,
) =>
  Object.fromEntries(
    capabilities.map((name) => [name, changes[name] ?? current[name] ?? name === 'streaming']),
  )

const pick = <Value>(change: Value | undefined, current: Value) =>
  change === undefined ? current : change

/**
 * Returns the context of a changed model and its maximum prompt, in tokens. Throws `out_of_range` for a prompt above the
 * context.
 */
function toLengths(model: Model, changes: ChangedModel) {
  const context = pick(changes.context_length, model.contextLength)
  const { max_input_tokens: requested } = changes
  if (context !== null && requested && requested > context) {
    const message = `max_input_tokens: ${requested} is more than the context_length, ${context}.`
    throw invalidRequest('max_input_tokens', 'out_of_range', message)
  }
  const prompt = pick(requested, model.maxInputTokens)
  return {
    context_length: context,
    max_input_tokens: prompt === null ? null : Math.min(prompt, context ?? prompt),
  }
}

/** Merges a model with changes into the row that replaces it. */
function toRow(model: Model, changes: ChangedModel) {
  const pricing =
    changes.pricing === undefined ? model.pricing : changes.pricing && toPricing(changes.pricing)
  const isFree = pick(changes.is_free, model.isFree)
  const enabled = pick(changes.enabled, model.enabled)
  const category = pick(changes.category, model.category)
  if (enabled && !isServable({ isFree, pricing, category })) {
    throw priceMissing()
  }
  const deprecatedAt = model.deprecatedAt === null ? null : new Date(model.deprecatedAt * 1000)
  return {
    id: model.id,
    provider: model.provider,
    name: pick(changes.name, model.name),
    upstream_model: pick(changes.upstream_model, model.upstreamModel),
    category,
    ...toLengths(model, changes),
    max_output_tokens: pick(changes.max_output_tokens, model.maxOutputTokens),
    dimensions: pick(changes.dimensions, model.dimensions),
    capabilities: JSON.stringify(toCapabilities(changes.capabilities ?? {}, model.capabilities)),
    pricing: pricing && toStoredPricing(pricing),
    is_free: isFree,
    enabled,
    deprecated_at: pick(changes.deprecated_at, deprecatedAt),
    created_at: changes.created_at ?? new Date(model.createdAt * 1000),
  }
}

const blank = (id: string, provider: string, name: string): Model => ({
  id,
  provider,
  name,
  upstreamModel: id.slice(provider.length + 1),
  category: 'chat',
  contextLength: null,
  maxInputTokens: null,
  maxOutputTokens: null,
  capabilities: {
    vision: false,
    audio: false,
    tools: true,
    reasoning: false,
    streaming: true,
    json_mode: true,
    json_schema: true,
  },
  pricing: null,
  isFree: false,
  enabled: true,
  createdAt: Math.floor(Date.now() / 1000),
  deprecatedAt: null,
  dimensions: null,
  simulated: false,
})

export type ModelStore = ReturnType<typeof createModelStore>

/**
 * The catalogue, for operators. A change is stored, and applied on this node before the response; the other nodes
 * follow by notification. All reject with `model_not_found` for unknown ids.
 */
export function createModelStore(db: Kysely<Schema>, catalog: Catalog) {
  async function answer(id: string) {
    await catalog.refresh()
    return toModelAnswer(requireModel(catalog, id))
  }

  return {
    list: (page: Page, filter: ModelFilter & { search: string | undefined }) =>
      listModels(catalog, page, filter),
    get: (id: string) => toModelAnswer(requireModel(catalog, id)),
    async create({ id, ...fields }: NewModel) {
      const provider = checkedId(catalog, id)
      const row = toRow(blank(id, provider, fields.name), fields)
      await db
        .transaction()
        .execute(async (trx) => {
          await trx.insertInto('model').values(row).execute()
          await notePrice(trx, id, fields)
          await noteCost(trx, id, fields)
          noteCreated(id)
        })
        .catch((thrown: unknown) => {
          throw isUniqueViolation(thrown) ? idTaken(id) : thrown
        })
      return answer(id)
    },
    async change(id: string, fields: ChangedModel) {
      const { cost_pricing: _cost, ...overrides } = fields
      const row = toRow(requireModel(catalog, id), overrides)
      // A cost alone overrides nothing of a built-in model: its price stays the catalogue's.
      const isOverride = Object.values(overrides).some((value) => value !== undefined)
      await db.transaction().execute(async (trx) => {
        if (isOverride) await storeModel(trx, row)
        await notePrice(trx, id, overrides)
        await noteCost(trx, id, fields)
      })
      return answer(id)
    },
    async delete(id: string) {
      requireModel(catalog, id)
      const isDeleted = await db.transaction().execute((trx) => deleteModel(trx, id))
      if (!isDeleted) {
        const message = 'This model is built in and cannot be deleted; disable it instead.'
        throw invalidRequest(null, 'wrong_state', message)
      }
      await catalog.refresh()
      return { success: true as const, message: 'The model, or your changes to it, was deleted.' }
    },
  }
}

const idTaken = (id: string) =>
  invalidRequest('id', 'taken', `id: "${id}" already exists; change it with PUT.`)

/** Returns the provider of a new model's id. Throws for an id that is taken or has no provider. */
function checkedId({ snapshot }: Catalog, id: string): string {
  const { provider } = splitModelId(id)
  if (!snapshot.providers.has(provider)) {
    throw invalidRequest('id', 'unknown_value', `id: provider "${provider}" does not exist.`)
  }
  if (snapshot.models.has(id)) throw idTaken(id)
  return provider
}

const storeModel = (trx: Transaction<Schema>, row: ReturnType<typeof toRow>) =>
  trx
    .insertInto('model')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...row, updated_at: new Date() }))
    .execute()

/** Stores the cost of a change, which applies at once. */
async function noteCost(trx: Transaction<Schema>, id: string, { cost_pricing }: ChangedModel) {
  if (cost_pricing === undefined) return
  await setModelCost(trx, id, cost_pricing && toPricing(cost_pricing))
}

/** Stores the price of a change, which begins at once. */
async function notePrice(trx: Transaction<Schema>, id: string, { pricing }: ChangedModel) {
  if (pricing === undefined) return
  await addPrice(trx, id, { pricing: pricing && toPricing(pricing) })
}

/** Deletes a model with its costs and its prices, including planned ones. Returns whether it existed. */
async function deleteModel(trx: Transaction<Schema>, id: string): Promise<boolean> {
  const models = await trx.deleteFrom('model').where('id', '=', id).executeTakeFirst()
  const prices = await trx.deleteFrom('model_price').where('model_id', '=', id).executeTakeFirst()
  const costs = await trx.deleteFrom('model_cost').where('model_id', '=', id).executeTakeFirst()
  return models.numDeletedRows + prices.numDeletedRows + costs.numDeletedRows > 0n
}
