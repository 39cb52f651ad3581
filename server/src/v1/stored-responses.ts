import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { z } from 'zod'
import { itemPaging, itemQuery, ResponseItemList, toItemList, type ItemQuery } from './item-list'
import { ResponseAnswer } from './response-schema'
import { ApiError } from '../errors'
import { answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import type { ResponseStore, StoredResponse } from '../stored-responses/store'
import type { JsonObject } from '../wire/json-body'

const Deleted = z
  .object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
  .meta({ ref: 'DeletedResponse' })

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

/** The items of an input with ids of their own. */
function toInputItems({ id, input }: StoredResponse, query: ItemQuery) {
  const { limit, order, after } = query
  const bare = id.slice(id.indexOf('_') + 1)
  const items = input.map((item, index) => toListed(item, `item_${bare}${String(index)}`))
  const ordered = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : ordered.findIndex((item) => item.id === after) + 1
  return toItemList(ordered.slice(start, start + limit), start + limit < ordered.length)
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
        parameters: [...parameters, ...itemPaging],
        responses: {
          ...answers(200, 'The items', ResponseItemList),
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
        return c.json(toInputItems(stored, itemQuery(c.req.query())))
      },
    )
