import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { z } from 'zod'
import { ResponseAnswer } from './response-schema'
import { ApiError, invalidRequest } from '../errors'
import { answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import type { ResponseStore, StoredResponse } from '../stored-responses/store'
import type { JsonObject } from '../wire/json-body'

const Deleted = z
  .object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
  .meta({ ref: 'DeletedResponse' })

const InputItems = z
  .object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ ref: 'ResponseInputItems' })

const defaultLimit = 20
const maxLimit = 100

const shared = {
  tags: ['Models'],
  security: [{ apiKey: [] }],
}
const parameters = [
  {
    name: 'response_id',
    in: 'path' as const,
    required: true,
    description: 'The `id` of an answer that was kept',
    schema: { type: 'string' as const, maxLength: 256 },
    example: 'resp_01m7zbr7rr3rrzfbtxk7716g95',
  },
]
const paging = [
  {
    name: 'limit',
    in: 'query' as const,
    schema: { type: 'integer' as const, minimum: 1, maximum: maxLimit, default: defaultLimit },
  },
  {
    name: 'order',
    in: 'query' as const,
    schema: { type: 'string' as const, enum: ['asc', 'desc'], default: 'desc' },
  },
  {
    name: 'after',
    in: 'query' as const,
    description: 'The id of an item; those behind it follow',
    schema: { type: 'string' as const, maxLength: 256 },
  },
]
const problems = documented('resource_not_found', 'gateway_unavailable', ...keyErrors)

const notFound = () =>
  new ApiError('resource_not_found', {
    param: 'response_id',
    message: 'This account has no such response: it was not kept, is deleted, or too old.',
  })

async function storedOf(store: ResponseStore, userId: string, id: string): Promise<StoredResponse> {
  const found = await store.find(userId, id)
  if (!found) throw notFound()
  return found
}

/** The items of an input with ids of their own, the latest first unless `order` is `asc`. */
function toInputItems({ id, input }: StoredResponse, query: Readonly<Record<string, string>>) {
  const { order = 'desc', after } = query
  const limit = Number(query['limit'] ?? defaultLimit)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw invalidRequest('limit', 'out_of_range', `limit: must be 1 to ${maxLimit}.`)
  }
  if (order !== 'asc' && order !== 'desc') {
    throw invalidRequest('order', 'unknown_value', 'order: must be "asc" or "desc".')
  }
  const bare = id.slice(id.indexOf('_') + 1)
  const items = input.map((item, index) => toListed(item, `item_${bare}${String(index)}`))
  const ordered = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : ordered.findIndex((item) => item.id === after) + 1
  const data = ordered.slice(start, start + limit)
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  }
}

const toListed = (item: JsonObject, id: string) => ({
  ...item,
  id: typeof item['id'] === 'string' ? item['id'] : id,
  type: typeof item['type'] === 'string' ? item['type'] : 'message',
})

/** Answers that callers asked to have kept: of their own account, each. */
export const storedResponseRoutes = (store: ResponseStore, guards: Guards) =>
  new Hono<Env>()
    .get(
      '/v1/responses/:response_id',
      describeRoute({
        ...shared,
        operationId: 'getResponse',
        summary: 'A response that was kept',
        parameters,
        responses: { ...answers(200, 'The response', ResponseAnswer), ...problems },
      }),
      guards.key('read'),
      async (c) => {
        const { userId } = c.var.principal
        const { response } = await storedOf(store, userId, c.req.param('response_id'))
        return c.json(response)
      },
    )
    .delete(
      '/v1/responses/:response_id',
      describeRoute({
        ...shared,
        operationId: 'deleteResponse',
        summary: 'Delete a response that was kept; what goes on from it cannot be gone on from',
        parameters,
        responses: { ...answers(200, 'It is deleted', Deleted), ...problems },
      }),
      guards.key('write'),
      async (c) => {
        const id = c.req.param('response_id')
        if (!(await store.delete(c.var.principal.userId, id))) throw notFound()
        return c.json({ id, object: 'response', deleted: true })
      },
    )
    .get(
      '/v1/responses/:response_id/input_items',
      describeRoute({
        ...shared,
        operationId: 'listResponseInputItems',
        summary: 'The input of a response that was kept',
        parameters: [...parameters, ...paging],
        responses: {
          ...answers(200, 'The items', InputItems),
          ...documented(
            'invalid_request',
            'resource_not_found',
            'gateway_unavailable',
            ...keyErrors,
          ),
        },
      }),
      guards.key('read'),
      async (c) => {
        const { userId } = c.var.principal
        const stored = await storedOf(store, userId, c.req.param('response_id'))
        return c.json(toInputItems(stored, c.req.query()))
      },
    )
