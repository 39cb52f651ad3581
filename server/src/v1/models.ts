import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { ListedModel, ModelList } from './schema'
import type { Catalog } from '../catalog/catalog'
import type { AccountCatalogs, FoundModel } from '../catalog/account-catalog'
import { collectionPrefix } from '../catalog/collection'
import { listingWith, toListed } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import { splitModelId } from '../wire/model-id'

const prefix = '/v1/models/'

/** The id of a path, decoded once: clients send its slash raw or as %2F. */
function modelIdIn(url: string): string {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2)).replace(/[?#].*$/s, '')
  try {
    return decodeURIComponent(path.slice(prefix.length)).replace(/\/$/, '')
  } catch {
    throw new ApiError('invalid_model', { param: 'model' })
  }
}

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

export const modelRoutes = (known: Known, guards: Guards) =>
  new Hono<Env>()
    .get(
      '/v1/models',
      describeRoute({
        operationId: 'listModels',
        summary: 'All models of the catalogue, and the collections that you may call',
        tags: ['Models'],
        security: [{ apiKey: [] }],
        responses: { ...answers(200, 'The models', ModelList), ...documented(...keyErrors) },
      }),
      guards.key('read'),
      async (c) => {
        const { userId } = c.var.principal
        const found = await foundBy(known, userId)
        const collections = await known.collectionsFor(userId)
        const more = [...found.map(toFound), ...collections.map(toCollection)]
        return new Response(listingWith(known.catalog.snapshot, more), {
          headers: { 'content-type': 'application/json' },
        })
      },
    )
    .get(
      '/v1/models/:model_id{.+}',
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
          ...answers(200, 'The model', ListedModel),
          ...documented('invalid_model', 'model_not_found', ...keyErrors),
        },
      }),
      guards.key('read'),
      async (c) => {
        const id = modelIdIn(c.req.raw.url)
        splitModelId(id)
        const { userId } = c.var.principal
        const model = known.catalog.snapshot.models.get(id)
        if (model?.enabled) return c.json(toListed(model))
        const others = id.startsWith(collectionPrefix)
          ? (await known.collectionsFor(userId)).map(toCollection)
          : (await foundBy(known, userId)).map(toFound)
        const other = others.find((one) => one.id === id)
        if (!other) throw new ApiError('model_not_found', { param: 'model' })
        return c.json(other)
      },
    )
