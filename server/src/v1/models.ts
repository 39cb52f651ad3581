import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { ListedModel, ModelList } from './schema'
import type { Catalog } from '../catalog/catalog'
import type { AccountCatalogs, FoundModel } from '../catalog/account-catalog'
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

interface Known {
  catalog: Catalog
  accounts: AccountCatalogs
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
        summary: 'All models of the catalogue',
        tags: ['Models'],
        security: [{ apiKey: [] }],
        responses: { ...answers(200, 'The models', ModelList), ...documented(...keyErrors) },
      }),
      guards.key('read'),
      async (c) => {
        const found = await foundBy(known, c.var.principal.userId)
        return new Response(listingWith(known.catalog.snapshot, found.map(toFound)), {
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
        const model = known.catalog.snapshot.models.get(id)
        if (model?.enabled) return c.json(toListed(model))
        const found = await foundBy(known, c.var.principal.userId)
        const own = found.find((one) => one.id === id)
        if (!own) throw new ApiError('model_not_found', { param: 'model' })
        return c.json(toFound(own))
      },
    )
