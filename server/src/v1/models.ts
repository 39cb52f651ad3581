import { Hono, type Context } from 'hono'
import { describeRoute } from 'hono-openapi'
import { z } from 'zod'
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
import { answers, describeErrors, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import { parseModelId } from '../http/model-path'
import { asksAnthropic, getErrorFormat } from '../http/error-format'
import { splitModelId } from '../wire/model-id'

const prefix = '/v1/models/'
const anthropicToo =
  'With a header `anthropic-version`, in the shape that clients of Anthropic read.'

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

/** The models of an account that the list shows. */
interface Offered {
  all: readonly Model[]
  find: (id: string) => Model | undefined
  callable: () => Promise<readonly Model[]>
  refusalOf: (model: Model) => { reason: string; message: string }
}

/** Rejects with `gateway_unavailable`. */
export type ModelsFor = (userId: string) => Promise<Offered>

interface Known {
  catalog: Catalog
  collectionsFor: CollectionsFor
  modelsFor: ModelsFor
}

type Listed = ReturnType<typeof toListed>

/** Orders the catalogue's models first, then those that only connections have. */
function inOrder({ catalog }: Known, models: readonly Model[]): readonly Model[] {
  const { models: listed } = catalog.snapshot
  const [known, found] = [true, false].map((wanted) =>
    models.filter(({ id }) => listed.has(id) === wanted),
  )
  return found?.length ? [...(known ?? []), ...found] : models
}

const commonListings = new WeakMap<readonly Model[], string>()

/** Encodes models as JSON, without the brackets. The same list is encoded once. */
function written(known: Known, models: readonly Model[]): string {
  let listing = commonListings.get(models)
  if (listing === undefined) {
    listing = JSON.stringify(inOrder(known, models).map(toListed)).slice(1, -1)
    commonListings.set(models, listing)
  }
  return listing
}

/** Lists the models that the caller can call now. */
async function callableList(known: Known, userId: string): Promise<string> {
  const offered = await known.modelsFor(userId)
  const models = written(known, await offered.callable())
  const collections = (await known.collectionsFor(userId)).map(toCollection)
  const more = JSON.stringify(collections).slice(1, -1)
  return `{"object":"list","data":[${[models, more].filter(Boolean).join()}]}`
}

/** Lists all known models, each with the reason why it is not callable. */
async function wholeList(known: Known, userId: string) {
  const offered = await known.modelsFor(userId)
  const callable = new Set((await offered.callable()).map(({ id }) => id))
  const models = inOrder(known, offered.all).map((model) => ({
    ...toListed(model),
    unavailable: callable.has(model.id) ? null : offered.refusalOf(model),
  }))
  const collections = (await known.collectionsFor(userId)).map((one) => ({
    ...toCollection(one),
    unavailable: null,
  }))
  return { object: 'list' as const, data: [...models, ...collections] }
}

async function anthropicList(known: Known, userId: string, isAll: boolean) {
  const offered = await known.modelsFor(userId)
  const models = inOrder(known, isAll ? offered.all : await offered.callable())
  const collections = await known.collectionsFor(userId)
  const others = collections.map(({ name, createdAt }) => ({
    id: `${collectionPrefix}${name}`,
    name,
    createdAt,
  }))
  return toAnthropicList([...models, ...others].map(toAnthropicModel))
}

/** Adds the display name. */
const named = (known: Known, { id, root, created: createdAt }: Listed) => ({
  id,
  name: known.catalog.snapshot.models.get(id)?.name ?? root,
  createdAt,
})

/** Returns the headers of the requested format. */
const headersOf = (c: Context<Env>) => getErrorFormat(c.req.raw).headers?.(c.get('requestId'))

/** Finds a model, also by an alias. Rejects with `model_not_found`. */
async function modelOf(known: Known, userId: string, id: string): Promise<Listed> {
  const model = (await known.modelsFor(userId)).find(id)
  if (model) return toListed(model)
  const collections = (await known.collectionsFor(userId)).map(toCollection)
  const collection = collections.find((one) => one.id === id)
  if (!collection) throw new ApiError('model_not_found', { param: 'model' })
  return collection
}

const described = {
  list: describeRoute({
    operationId: 'listModels',
    summary: 'The models and collections that you can call now',
    tags: ['Models'],
    security: [{ apiKey: [] }],
    description: `With \`all=true\`, every model there is, and why those are not callable that are not. ${anthropicToo}`,
    parameters: [
      {
        name: 'all',
        in: 'query',
        required: false,
        description: 'Also what you cannot call now, with the reason',
        schema: { type: 'string', enum: ['true', 'false'] },
      },
    ],
    responses: {
      ...answers(200, 'The models', z.union([ModelList, AnthropicModelList])),
      ...describeErrors(...keyErrors),
    },
  }),
  get: describeRoute({
    operationId: 'getModel',
    summary: 'One model; the slash of its id may be sent as it is or encoded',
    tags: ['Models'],
    security: [{ apiKey: [] }],
    parameters: [
      {
        name: 'model_id',
        in: 'path',
        required: true,
        description: '`<provider>/<model>`',
        schema: { type: 'string', maxLength: 256 },
        example: 'sandbox/echo',
      },
    ],
    responses: {
      ...answers(200, 'The model', z.union([ListedModel, AnthropicModel])),
      ...describeErrors('invalid_model', 'model_not_found', ...keyErrors),
    },
  }),
}

export const modelRoutes = (known: Known, guards: Guards) =>
  new Hono<Env>()
    .get('/v1/models', described.list, guards.key('read'), async (c) => {
      const { userId } = c.var.principal
      const isAll = c.req.query('all') === 'true'
      if (asksAnthropic(c.req.raw)) {
        return c.json(await anthropicList(known, userId, isAll), 200, headersOf(c))
      }
      if (isAll) return c.json(await wholeList(known, userId))
      return new Response(await callableList(known, userId), {
        headers: { 'content-type': 'application/json' },
      })
    })
    .get('/v1/models/:model_id{[\\s\\S]+}', described.get, guards.key('read'), async (c) => {
      const id = parseModelId(c.req.raw.url, prefix)
      if (id === undefined) throw new ApiError('invalid_model', { param: 'model' })
      splitModelId(id)
      const model = await modelOf(known, c.var.principal.userId, id)
      return c.json(
        asksAnthropic(c.req.raw) ? toAnthropicModel(named(known, model)) : model,
        200,
        headersOf(c),
      )
    })
