import type { Kysely } from 'kysely'
import type { ChangedModel, NewModel, PricingFields } from './schema'
import type { Catalog } from '../../catalog/catalog'
import { capabilities, type Capability, type Model, type Pricing } from '../../catalog/model'
import { isServable } from '../../catalog/priced'
import { toStoredPricing } from '../../catalog/stored'
import type { Schema } from '../../db/schema'
import { isTaken } from '../../db/violation'
import { ApiError, invalidRequest } from '../../errors'
import { toTimestamp } from '../../http/fields'
import { toUsd } from '../../wire/usd'
import { pagedList, type Page } from '../../http/paging'
import { splitModelId } from '../../wire/model-id'

const toModelAnswer = (model: Model) => ({
  id: model.id,
  name: model.name,
  provider: model.provider,
  upstream_model: model.upstreamModel,
  category: model.category,
  context_length: model.contextLength,
  max_output_tokens: model.maxOutputTokens,
  dimensions: model.dimensions,
  capabilities: model.capabilities,
  pricing: model.pricing && toPricingAnswer(model.pricing),
  is_free: model.isFree,
  enabled: model.enabled,
  simulated: model.simulated,
  deprecated_at: model.deprecatedAt && toTimestamp(new Date(model.deprecatedAt * 1000)),
  created_at: toTimestamp(new Date(model.createdAt * 1000)),
})

const optionalUsd = (nanos: bigint | undefined) => (nanos === undefined ? null : toUsd(nanos))

const toPricingAnswer = (pricing: Pricing) => ({
  input: toUsd(pricing.input),
  output: toUsd(pricing.output),
  cached_input: optionalUsd(pricing.cachedInput),
  cache_write: optionalUsd(pricing.cacheWrite),
  reasoning: optionalUsd(pricing.reasoning),
  audio_input: optionalUsd(pricing.audioInput),
  audio_output: optionalUsd(pricing.audioOutput),
  image: optionalUsd(pricing.image),
  request: optionalUsd(pricing.request),
  currency: 'USD' as const,
})

function toPricing(fields: PricingFields): Pricing {
  const { input, output, image, request, reasoning } = fields
  const buckets = {
    cachedInput: fields.cached_input,
    cacheWrite: fields.cache_write,
    audioInput: fields.audio_input,
    audioOutput: fields.audio_output,
    reasoning,
    image,
    request,
  }
  const set = Object.entries(buckets).filter(([, price]) => price !== undefined && price !== null)
  return { input, output, ...Object.fromEntries(set) }
}

const toCapabilities = (
  given: Partial<Record<Capability, boolean>>,
  known: Readonly<Partial<Record<Capability, boolean>>>,
) =>
  Object.fromEntries(
    capabilities.map((name) => [name, given[name] ?? known[name] ?? name === 'streaming']),
  )

const pick = <Value>(change: Value | undefined, kept: Value) =>
  change === undefined ? kept : change

/** A model with changes, as the row that takes its place. */
function toRow(model: Model, changes: ChangedModel) {
  const pricing =
    changes.pricing === undefined ? model.pricing : changes.pricing && toPricing(changes.pricing)
  const isFree = pick(changes.is_free, model.isFree)
  const enabled = pick(changes.enabled, model.enabled)
  const category = pick(changes.category, model.category)
  if (enabled && !isServable({ isFree, pricing, category })) {
    const words = 'pricing: a model needs a price above zero for input and output, or is_free.'
    throw invalidRequest('pricing', 'required', words)
  }
  const deprecatedAt = model.deprecatedAt === null ? null : new Date(model.deprecatedAt * 1000)
  return {
    id: model.id,
    provider: model.provider,
    name: pick(changes.name, model.name),
    upstream_model: pick(changes.upstream_model, model.upstreamModel),
    category,
    context_length: pick(changes.context_length, model.contextLength),
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

function found(catalog: Catalog, id: string): Model {
  const model = catalog.snapshot.models.get(id)
  if (!model) throw new ApiError('model_not_found')
  return model
}

export type ModelStore = ReturnType<typeof createModelStore>

/**
 * The catalogue, for operators. A change is stored, and taken over here before it is answered; the
 * other nodes follow by notification. All reject with `model_not_found` for unknown ids.
 */
export function createModelStore(db: Kysely<Schema>, catalog: Catalog) {
  async function answer(id: string) {
    await catalog.refresh()
    return toModelAnswer(found(catalog, id))
  }

  return {
    list: (page: Page, search: string | undefined) => listModels(catalog, page, search),
    get: (id: string) => toModelAnswer(found(catalog, id)),
    async create({ id, ...fields }: NewModel) {
      const provider = checkedId(catalog, id)
      await db
        .insertInto('model')
        .values(toRow(blank(id, provider, fields.name), fields))
        .execute()
        .catch((thrown: unknown) => {
          throw isTaken(thrown) ? idTaken(id) : thrown
        })
      return answer(id)
    },
    async change(id: string, fields: ChangedModel) {
      const row = toRow(found(catalog, id), fields)
      await db
        .insertInto('model')
        .values(row)
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ ...row, updated_at: new Date() }),
        )
        .execute()
      return answer(id)
    },
    async delete(id: string) {
      found(catalog, id)
      const deleted = await db
        .deleteFrom('model')
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      if (!deleted) {
        const words = 'This model comes with Tollgate; disable it instead.'
        throw invalidRequest(null, 'wrong_state', words)
      }
      await catalog.refresh()
      return { success: true, message: 'The model, or the changes to it, were deleted.' }
    },
  }
}

const idTaken = (id: string) =>
  invalidRequest('id', 'taken', `id: "${id}" is there already; change it with PUT.`)

/** The provider of a new model's id. Throws for an id that is taken or of no provider. */
function checkedId({ snapshot }: Catalog, id: string): string {
  const { provider } = splitModelId(id)
  if (!snapshot.providers.has(provider)) {
    throw invalidRequest('id', 'unknown_value', `id: there is no provider "${provider}".`)
  }
  if (snapshot.models.has(id)) throw idTaken(id)
  return provider
}

function listModels({ snapshot }: Catalog, page: Page, search: string | undefined) {
  const words = search?.toLowerCase()
  const all = [...snapshot.models.values()]
  const matching = words
    ? all.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(words))
    : all
  const rows = matching.toReversed()
  const behind = (before: string) => rows.filter(({ id }) => id < before)
  const { shown, pagination } = pagedList(page, rows, behind)
  return { models: shown.map(toModelAnswer), pagination }
}
