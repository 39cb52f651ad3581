import type { Context } from 'hono'
import { z } from 'zod'
import { AnthropicModel, AnthropicModelList, toAnthropicModel } from './anthropic-models'
import { EncodedModels } from './encoded-models'
import {
  toCollectionFacts,
  toListedModel,
  type CallableCollection,
  type ListedFacts,
} from './listed-model'
import type { ModelCaller, ModelsFor, Offered } from './model-caller'
import { ListedModel, ModelCount, ModelList } from './schema'
import type { Catalog } from '../catalog/catalog'
import type { Model } from '../catalog/model'
import { ApiError } from '../errors'
import { modelKey } from '../http/access'
import type { Env } from '../http/env'
import { modelIdParameter, parseModelId } from '../http/model-path'
import { lenientFlag } from '../http/query'
import { route, type Route } from '../http/route'
import { refusalText, type AccessLists } from '../platform/access-lists'
import { usesMessagesFormat, getErrorFormat } from '../http/error-format'
import { isModelName } from '../wire/model-id'

const prefix = '/v1/models/'
const anthropicNote = "With a header `anthropic-version`, in Anthropic's format."

/** Lists the collections that an account, or a key of it with lists, may call. */
export type CollectionsFor = (
  userId: string,
  accessLists: AccessLists | null,
) => Promise<readonly CallableCollection[]>

interface ModelSources {
  catalog: Catalog
  collectionsFor: CollectionsFor
  modelsFor: ModelsFor
}

const listedRows = new EncodedModels(toListedModel)
const anthropicRows = new EncodedModels(toAnthropicModel)

/** Orders the catalogue's models first, then those that only connections have. */
function inOrder({ catalog }: ModelSources, models: readonly Model[]): readonly Model[] {
  const { models: listed } = catalog.snapshot
  const [listedModels, otherModels] = [true, false].map((isListed) =>
    models.filter(({ id }) => listed.has(id) === isListed),
  )
  return otherModels?.length ? [...(listedModels ?? []), ...otherModels] : models
}

const findModels = ({ modelsFor }: ModelSources, { userId, accessLists }: ModelCaller) =>
  modelsFor(userId, accessLists)

const findCollections = async (
  { collectionsFor }: ModelSources,
  { userId, accessLists }: ModelCaller,
) => (await collectionsFor(userId, accessLists)).map(toCollectionFacts)

const encodeList = (count: number, rows: readonly string[]) =>
  `{"object":"list","total_count":${count},"links":{"next":null},"data":[${rows.join()}]}`

/** Lists the models that the caller can call now. */
async function callableList(sources: ModelSources, caller: ModelCaller): Promise<string> {
  const { snapshot } = sources.catalog
  const offered = await findModels(sources, caller)
  const callable = await offered.findCallable()
  const collections = await findCollections(sources, caller)
  const models = listedRows.list(callable, snapshot, (list) => inOrder(sources, list))
  const others = collections.map((one) => listedRows.row(one, snapshot))
  return encodeList(
    callable.length + others.length,
    [models, ...others].filter((row) => row !== ''),
  )
}

function explainRefusal(model: Model, offered: Offered) {
  const list = offered.refusingListOf(model)
  if (list === undefined) return offered.refusalOf(model)
  const message = `This API key may not call it: ${refusalText(list)}.`
  return { reason: 'not_allowed_by_key', message }
}

/** Lists all known models, each with the reason why it is not callable. */
async function listAll(sources: ModelSources, caller: ModelCaller): Promise<string> {
  const { snapshot } = sources.catalog
  const offered = await findModels(sources, caller)
  const callable = new Set((await offered.findCallable()).map(({ id }) => id))
  const withReason = (model: ListedFacts, reason: unknown) =>
    `${listedRows.row(model, snapshot).slice(0, -1)},"unavailable":${JSON.stringify(reason)}}`
  const models = inOrder(sources, offered.all).map((model) =>
    withReason(model, callable.has(model.id) ? null : explainRefusal(model, offered)),
  )
  const collections = await findCollections(sources, caller)
  const rows = [...models, ...collections.map((one) => withReason(one, null))]
  return encodeList(rows.length, rows)
}

/** Lists models in Anthropic's format, on one page. */
async function anthropicList(
  sources: ModelSources,
  caller: ModelCaller,
  isAll: boolean,
): Promise<string> {
  const { snapshot } = sources.catalog
  const offered = await findModels(sources, caller)
  const models = inOrder(sources, isAll ? offered.all : await offered.findCallable())
  const all = [...models, ...(await findCollections(sources, caller))]
  const data = all.map((one) => anthropicRows.row(one, snapshot)).join()
  const [first, last] = [all[0]?.id ?? null, all.at(-1)?.id ?? null]
  return `{"data":[${data}],"has_more":false,"first_id":${JSON.stringify(first)},"last_id":${JSON.stringify(last)}}`
}

/** Counts the models and collections that the caller can call now. */
async function countCallable(sources: ModelSources, caller: ModelCaller): Promise<number> {
  const offered = await findModels(sources, caller)
  const collections = await findCollections(sources, caller)
  return (await offered.findCallable()).length + collections.length
}

/** Finds a model, also by an alias. Rejects with `invalid_model` and `model_not_found`, which name similar ones. */
async function modelOf(
  sources: ModelSources,
  caller: ModelCaller,
  id: string,
): Promise<ListedFacts> {
  const offered = await findModels(sources, caller)
  if (!isModelName(id)) {
    throw await offered.suggest(new ApiError('invalid_model', { param: 'model' }), id)
  }
  const model = offered.find(id)
  if (model) return model
  const collections = await findCollections(sources, caller)
  const collection = collections.find((one) => one.id === id)
  if (collection) return collection
  throw await offered.suggest(new ApiError('model_not_found', { param: 'model' }), id)
}

/** Returns the headers of the requested format. */
const headersOf = (c: Context<Env>) => getErrorFormat(c.req.raw).headers?.(c.get('requestId'))

const toJsonResponse = (text: string, headers?: Record<string, string>) =>
  new Response(text, { headers: { 'content-type': 'application/json', ...headers } })

const ModelQuery = z.object({
  all: lenientFlag.describe('Includes models that you cannot call now, with the reason'),
})

export const modelRoutes = (sources: ModelSources): Route[] => [
  listModels(sources),
  // Before the route of a model, which takes any name.
  countModels(sources),
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
    notes: `With \`all=true\`, every model, and why some are unavailable. Models whose provider has switched them off by now are left out. Without pages. ${anthropicNote}`,
    query: ModelQuery,
    responses: { 200: z.union([ModelList, AnthropicModelList]) },
    handler: async ({ c, principal, query: { all: isAll } }) => {
      if (usesMessagesFormat(c.req.raw)) {
        return toJsonResponse(await anthropicList(sources, principal, isAll), headersOf(c))
      }
      const list = isAll ? listAll : callableList
      return toJsonResponse(await list(sources, principal))
    },
  })

const countModels = (sources: ModelSources) =>
  route({
    method: 'get',
    path: '/v1/models/count',
    access: modelKey('read'),
    operationId: 'countModels',
    tag: 'Models',
    summary: 'Get the number of models and collections that you can call now',
    responses: { 200: ModelCount },
    handler: async ({ principal }) => ({
      data: { count: await countCallable(sources, principal) },
    }),
  })

const getModel = (sources: ModelSources) =>
  route({
    method: 'get',
    path: '/v1/models/:model_id{[\\s\\S]+}',
    access: modelKey('read'),
    operationId: 'getModel',
    tag: 'Models',
    summary: 'Get a model',
    notes: `${anthropicNote} \`GET /api/models/{model_id}\` has prices by tier and capabilities.`,
    params: { model_id: modelIdParameter },
    responses: { 200: z.union([ListedModel, AnthropicModel]) },
    errors: ['invalid_model', 'model_not_found'],
    handler: async ({ c, principal }) => {
      const id = parseModelId(c.req.raw.url, prefix)
      if (id === undefined) throw new ApiError('invalid_model', { param: 'model' })
      const model = await modelOf(sources, principal, id)
      const answer = usesMessagesFormat(c.req.raw)
        ? toAnthropicModel(model)
        : toListedModel(model, sources.catalog.snapshot)
      return c.json(answer, 200, headersOf(c))
    },
  })
