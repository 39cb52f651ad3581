import type { Context } from 'hono'
import { z } from 'zod'
import { offerToKey, type ModelCaller, type ModelsFor } from './offered-to-key'
import { ListedModel, ModelList } from './schema'
import {
  AnthropicModel,
  AnthropicModelList,
  toAnthropicList,
  toAnthropicModel,
} from './anthropic-models'
import type { Catalog } from '../catalog/catalog'
import { collectionPrefix } from '../catalog/collection'
import type { Model } from '../catalog/model'
import { toListed } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { modelKey } from '../http/access'
import type { Env } from '../http/env'
import { modelIdParameter, parseModelId } from '../http/model-path'
import { lenientFlag } from '../http/query'
import { route, type Route } from '../http/route'
import { usesMessagesFormat, getErrorFormat } from '../http/error-format'
import { isModelName } from '../wire/model-id'

const prefix = '/v1/models/'
const anthropicNote = "With a header `anthropic-version`, in Anthropic's format."

interface Callable {
  name: string
  /** Unix seconds. */
  createdAt: number
}

/** Lists the collections that an account may call. */
export type CollectionsFor = (userId: string) => Promise<readonly Callable[]>

/** Shows a collection in the form of a model. Source: contract 4.6. */
const toCollection = ({ name, createdAt }: Callable) =>
  toListed({ id: `${collectionPrefix}${name}`, provider: 'collection', createdAt })

interface ModelSources {
  catalog: Catalog
  collectionsFor: CollectionsFor
  modelsFor: ModelsFor
}

type Listed = ReturnType<typeof toListed>

/** Orders the catalogue's models first, then those that only connections have. */
function inOrder({ catalog }: ModelSources, models: readonly Model[]): readonly Model[] {
  const { models: listed } = catalog.snapshot
  const [listedModels, otherModels] = [true, false].map((isListed) =>
    models.filter(({ id }) => listed.has(id) === isListed),
  )
  return otherModels?.length ? [...(listedModels ?? []), ...otherModels] : models
}

const commonListings = new WeakMap<readonly Model[], string>()

/** Encodes models as JSON, without the brackets. The same list is encoded once. */
function encodeModels(sources: ModelSources, models: readonly Model[]): string {
  let listing = commonListings.get(models)
  if (listing === undefined) {
    listing = JSON.stringify(inOrder(sources, models).map(toListed)).slice(1, -1)
    commonListings.set(models, listing)
  }
  return listing
}

/** Lists the models that the caller can call now. */
async function callableList(sources: ModelSources, caller: ModelCaller): Promise<string> {
  const { userId } = caller
  const offered = await offerToKey(caller, sources.modelsFor)
  const models = encodeModels(sources, await offered.callable())
  const collections = (await sources.collectionsFor(userId)).map(toCollection)
  const more = JSON.stringify(collections).slice(1, -1)
  return `{"object":"list","data":[${[models, more].filter(Boolean).join()}]}`
}

/** Lists all known models, each with the reason why it is not callable. */
async function listAll(sources: ModelSources, caller: ModelCaller) {
  const { userId } = caller
  const offered = await offerToKey(caller, sources.modelsFor)
  const callable = new Set((await offered.callable()).map(({ id }) => id))
  const models = inOrder(sources, offered.all).map((model) => ({
    ...toListed(model),
    unavailable: callable.has(model.id) ? null : offered.refusalOf(model),
  }))
  const collections = (await sources.collectionsFor(userId)).map((one) => ({
    ...toCollection(one),
    unavailable: null,
  }))
  return { object: 'list' as const, data: [...models, ...collections] }
}

async function anthropicList(sources: ModelSources, caller: ModelCaller, isAll: boolean) {
  const { userId } = caller
  const offered = await offerToKey(caller, sources.modelsFor)
  const models = inOrder(sources, isAll ? offered.all : await offered.callable())
  const collections = await sources.collectionsFor(userId)
  const others = collections.map(({ name, createdAt }) => ({
    id: `${collectionPrefix}${name}`,
    name,
    createdAt,
  }))
  return toAnthropicList([...models, ...others].map(toAnthropicModel))
}

/** Adds the display name. */
const named = (sources: ModelSources, { id, root, created: createdAt }: Listed) => ({
  id,
  name: sources.catalog.snapshot.models.get(id)?.name ?? root,
  createdAt,
})

/** Returns the headers of the requested format. */
const headersOf = (c: Context<Env>) => getErrorFormat(c.req.raw).headers?.(c.get('requestId'))

/** Finds a model, also by an alias. Rejects with `invalid_model` and `model_not_found`, which name similar ones. */
async function modelOf(
  sources: ModelSources,
  { userId, allowedModels }: ModelCaller,
  id: string,
): Promise<Listed> {
  const offered = await sources.modelsFor(userId)
  if (!isModelName(id)) {
    throw await offered.suggest(
      new ApiError('invalid_model', { param: 'model' }),
      id,
      allowedModels,
    )
  }
  const model = offered.find(id)
  if (model) return toListed(model)
  const collections = (await sources.collectionsFor(userId)).map(toCollection)
  const collection = collections.find((one) => one.id === id)
  if (collection) return collection
  throw await offered.suggest(
    new ApiError('model_not_found', { param: 'model' }),
    id,
    allowedModels,
  )
}

const ModelQuery = z.object({
  all: lenientFlag.describe('Includes models that you cannot call now, with the reason'),
})

export const modelRoutes = (sources: ModelSources): Route[] => [
  listModels(sources),
  getModel(sources),
]

const listModels = (sources: ModelSources) =>
  route({
    method: 'get',
    path: '/v1/models',
    access: modelKey('read'),
    operationId: 'listModels',
    tag: 'Models',
    summary: 'List the models and collections that you can call now',
    notes: `With \`all=true\`, every model, and why some are unavailable. Without pages. ${anthropicNote}`,
    query: ModelQuery,
    responses: { 200: z.union([ModelList, AnthropicModelList]) },
    handler: async ({ c, principal, query: { all: isAll } }) => {
      if (usesMessagesFormat(c.req.raw)) {
        return c.json(await anthropicList(sources, principal, isAll), 200, headersOf(c))
      }
      if (isAll) return c.json(await listAll(sources, principal))
      return new Response(await callableList(sources, principal), {
        headers: { 'content-type': 'application/json' },
      })
    },
  })

const getModel = (sources: ModelSources) =>
  route({
    method: 'get',
    path: '/v1/models/:model_id{[\\s\\S]+}',
    access: modelKey('read'),
    operationId: 'getModel',
    tag: 'Models',
    summary: 'Get a model',
    notes: `${anthropicNote} \`GET /api/models/{model_id}\` has prices and capabilities.`,
    params: { model_id: modelIdParameter },
    responses: { 200: z.union([ListedModel, AnthropicModel]) },
    errors: ['invalid_model', 'model_not_found'],
    handler: async ({ c, principal }) => {
      const id = parseModelId(c.req.raw.url, prefix)
      if (id === undefined) throw new ApiError('invalid_model', { param: 'model' })
      const model = await modelOf(sources, principal, id)
      const answer = usesMessagesFormat(c.req.raw) ? toAnthropicModel(named(sources, model)) : model
      return c.json(answer, 200, headersOf(c))
    },
  })
