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
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { FoundModel } from '../catalog/found'
import { collectionPrefix } from '../catalog/collection'
import { listingWith, toListed } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import { modelIdIn } from '../http/model-path'
import { asksAnthropic, wordingOf } from '../http/wording'
import { splitModelId } from '../wire/model-id'

const prefix = '/v1/models/'
const anthropicToo =
  'With a header `anthropic-version`, in the shape that clients of Anthropic read.'

const toFound = ({ id, provider, foundAt }: FoundModel) =>
  toListed({ id, provider, createdAt: foundAt })

interface Callable {
  name: string
  /** Unix seconds. */
  createdAt: number
}

/** The collections that an account may call. */
export type CollectionsFor = (userId: string) => Promise<readonly Callable[]>

/** A collection in the form of a model. Source: api.md 4.6. */
const toCollection = ({ name, createdAt }: Callable) =>
  toListed({ id: `${collectionPrefix}${name}`, provider: 'collection', createdAt })

interface Known {
  catalog: Catalog
  accounts: AccountCatalogs
  collectionsFor: CollectionsFor
}

/** Models known only through connections that the caller may use, and of no model of the catalogue. */
async function foundBy({ catalog, accounts }: Known, userId: string): Promise<FoundModel[]> {
  const account = await accounts.of(userId)
  if (account.isEmpty) return []
  const { models, providers } = catalog.snapshot
  return account.found().filter(({ id, provider }) => providers.has(provider) && !models.has(id))
}

type Listed = ReturnType<typeof toListed>

/** What a caller may name that the catalogue does not have. */
async function beyondCatalogue(known: Known, userId: string): Promise<Listed[]> {
  const found = await foundBy(known, userId)
  const collections = await known.collectionsFor(userId)
  return [...found.map(toFound), ...collections.map(toCollection)]
}

/** With the name that people read. */
const named = (known: Known, { id, root, created: createdAt }: Listed) => ({
  id,
  name: known.catalog.snapshot.models.get(id)?.name ?? root,
  createdAt,
})

const anthropicList = (known: Known, more: readonly Listed[]) => {
  const models = [...known.catalog.snapshot.models.values()].filter(({ enabled }) => enabled)
  const others = more.map((listed) => named(known, listed))
  return toAnthropicList([...models, ...others].map(toAnthropicModel))
}

/** Of the wording of the format that is asked for. */
const headersOf = (c: Context<Env>) => wordingOf(c.req.raw).headers?.(c.get('requestId'))

/** Rejects with `model_not_found`. */
async function modelOf(known: Known, userId: string, id: string): Promise<Listed> {
  const model = known.catalog.snapshot.models.get(id)
  if (model?.enabled) return toListed(model)
  const other = (await beyondCatalogue(known, userId)).find((one) => one.id === id)
  if (!other) throw new ApiError('model_not_found', { param: 'model' })
  return other
}

export const modelRoutes = (known: Known, guards: Guards) =>
  new Hono<Env>()
    .get(
      '/v1/models',
      describeRoute({
        operationId: 'listModels',
        summary: 'All models of the catalogue, and the collections that you may call',
        tags: ['Models'],
        security: [{ apiKey: [] }],
        description: anthropicToo,
        responses: {
          ...answers(200, 'The models', z.union([ModelList, AnthropicModelList])),
          ...documented(...keyErrors),
        },
      }),
      guards.key('read'),
      async (c) => {
        const more = await beyondCatalogue(known, c.var.principal.userId)
        if (asksAnthropic(c.req.raw)) return c.json(anthropicList(known, more), 200, headersOf(c))
        return new Response(listingWith(known.catalog.snapshot, more), {
          headers: { 'content-type': 'application/json' },
        })
      },
    )
    .get(
      '/v1/models/:model_id{[\\s\\S]+}',
      describeRoute({
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
          ...documented('invalid_model', 'model_not_found', ...keyErrors),
        },
      }),
      guards.key('read'),
      async (c) => {
        const id = modelIdIn(c.req.raw.url, prefix)
        if (id === undefined) throw new ApiError('invalid_model', { param: 'model' })
        splitModelId(id)
        const model = await modelOf(known, c.var.principal.userId, id)
        return c.json(
          asksAnthropic(c.req.raw) ? toAnthropicModel(named(known, model)) : model,
          200,
          headersOf(c),
        )
      },
    )
