import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { ListedModel, ModelList } from './schema'
import type { Catalog } from '../catalog/catalog'
import { collectionPrefix } from '../catalog/collection'
import { toListed } from '../catalog/snapshot'
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

interface Listed {
  name: string
  /** Unix seconds. */
  createdAt: number
}

/** The collections that an account may call. */
export type CollectionsFor = (userId: string) => Promise<readonly Listed[]>

interface Ports {
  catalog: Catalog
  collectionsFor: CollectionsFor
}

/** A collection in the form of a model. Source: api.md 4.6. */
const toListedCollection = ({ name, createdAt }: Listed) => ({
  id: `${collectionPrefix}${name}`,
  object: 'model' as const,
  created: createdAt,
  owned_by: 'collection',
  permission: [],
  root: name,
  parent: null,
})

/** The listing of the catalogue, which is ready as text, with more behind it. */
const extended = (listing: string, more: readonly object[]): string => {
  if (more.length === 0) return listing
  const end = listing.lastIndexOf(']')
  const comma = listing.at(end - 1) === '[' ? '' : ','
  return `${listing.slice(0, end)}${comma}${JSON.stringify(more).slice(1)}${listing.slice(end + 1)}`
}

export const modelRoutes = ({ catalog, collectionsFor }: Ports, guards: Guards) =>
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
        const collections = await collectionsFor(c.var.principal.userId)
        const { listing } = catalog.snapshot
        return new Response(extended(listing, collections.map(toListedCollection)), {
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
        if (id.startsWith(collectionPrefix)) {
          const found = (await collectionsFor(c.var.principal.userId)).find(
            ({ name }) => `${collectionPrefix}${name}` === id,
          )
          if (!found) throw new ApiError('model_not_found', { param: 'model' })
          return c.json(toListedCollection(found))
        }
        const model = catalog.snapshot.models.get(id)
        if (!model?.enabled) throw new ApiError('model_not_found', { param: 'model' })
        return c.json(toListed(model))
      },
    )
