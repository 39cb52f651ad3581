import { Hono } from 'hono'
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
import { toListed } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import { asksAnthropic, wordingOf } from '../http/wording'
import { splitModelId } from '../wire/model-id'

const prefix = '/v1/models/'
const anthropicToo =
  'With a header `anthropic-version`, in the shape that clients of Anthropic read.'

/** The id of a path, decoded once: clients send its slash raw or as %2F. */
function modelIdIn(url: string): string {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2)).replace(/[?#].*$/s, '')
  try {
    return decodeURIComponent(path.slice(prefix.length)).replace(/\/$/, '')
  } catch {
    throw new ApiError('invalid_model', { param: 'model' })
  }
}

export const modelRoutes = (catalog: Catalog, guards: Guards) =>
  new Hono<Env>()
    .get(
      '/v1/models',
      describeRoute({
        operationId: 'listModels',
        summary: 'All models of the catalogue',
        tags: ['Models'],
        security: [{ apiKey: [] }],
        description: anthropicToo,
        responses: {
          ...answers(200, 'The models', z.union([ModelList, AnthropicModelList])),
          ...documented(...keyErrors),
        },
      }),
      guards.key('read'),
      (c) =>
        asksAnthropic(c.req.raw)
          ? c.json(
              toAnthropicList(catalog.snapshot.models.values()),
              200,
              wordingOf(c.req.raw).headers?.(c.get('requestId')),
            )
          : new Response(catalog.snapshot.listing, {
              headers: { 'content-type': 'application/json' },
            }),
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
          ...answers(200, 'The model', z.union([ListedModel, AnthropicModel])),
          ...documented('invalid_model', 'model_not_found', ...keyErrors),
        },
      }),
      guards.key('read'),
      (c) => {
        const id = modelIdIn(c.req.raw.url)
        splitModelId(id)
        const model = catalog.snapshot.models.get(id)
        if (!model?.enabled) throw new ApiError('model_not_found', { param: 'model' })
        return asksAnthropic(c.req.raw)
          ? c.json(toAnthropicModel(model), 200, wordingOf(c.req.raw).headers?.(c.get('requestId')))
          : c.json(toListed(model))
      },
    )
