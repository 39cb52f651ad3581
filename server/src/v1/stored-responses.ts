import { Hono, type Context } from 'hono'
import { describeRoute } from 'hono-openapi'
import { z } from 'zod'
import { backgroundReply } from './background-stream'
import { streamOr } from './description'
import { itemPaging, itemQuery, ResponseItemList, toItemList, type ItemQuery } from './item-list'
import { respondWithStream, type ReplyPorts } from './reply'
import { ResponseAnswer } from './response-schema'
import type { ResponsePorts } from './responses'
import { ApiError, invalidRequest } from '../errors'
import type { StreamReply } from '../gateway/request'
import { answers, describeErrors, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import type { Owned } from '../stored-responses/background-store'
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
const problems = describeErrors('resource_not_found', 'gateway_unavailable', ...keyErrors)
const refusals = describeErrors(
  'invalid_request',
  'resource_not_found',
  'gateway_unavailable',
  ...keyErrors,
)
const lines = '`event: <type>` and `data: <event>` lines'

const notFound = () =>
  new ApiError('resource_not_found', {
    param: 'response_id',
    message: 'This account has no such response: it was not kept, is deleted, or too old.',
  })

/** Reads the number of the event after which a stream continues; -1 for all events. Throws `invalid_request`. */
function startingAfter(query: Readonly<Record<string, string>>): number {
  const { starting_after: after = '-1' } = query
  if (/^(-1|\d{1,15})$/.test(after)) return Number(after)
  throw invalidRequest(
    'starting_after',
    'out_of_range',
    'starting_after: must be the number of an event.',
  )
}

/** Streams the events of a background response, running or ended. Rejects with `invalid_request`. */
async function streamOf(
  { background, runs }: StoredPorts,
  owned: Owned,
  after: number,
): Promise<StreamReply> {
  const standing = await background.find(owned)
  if (!standing) throw notFound()
  if (!standing.keepsEvents) {
    throw invalidRequest(
      'stream',
      'wrong_state',
      'stream: only an answer in the background that was asked for as a stream is read as one, up to an hour after its end.',
    )
  }
  return backgroundReply(background, { owned, after, left: runs.readers.enter(owned.userId) })
}

/** Returns the current response; one whose node is gone has failed. */
async function responseOf(ports: StoredPorts, owned: Owned): Promise<JsonObject> {
  const { response } = await storedOf(ports.store, owned.userId, owned.id)
  if (response['background'] !== true) return response
  return (await ports.background.find(owned))?.response ?? response
}

/** Cancels a response, once: one that has ended stays unchanged. Rejects with `invalid_request`. */
async function cancelled({ runs }: StoredPorts, owned: Owned): Promise<JsonObject> {
  const standing = await runs.cancel(owned)
  if (!standing) throw notFound()
  if (standing.isBackground) return standing.response
  throw invalidRequest(
    'response_id',
    'wrong_state',
    'response_id: only an answer that was asked for with "background": true can be cancelled.',
  )
}

async function storedOf(store: ResponseStore, userId: string, id: string): Promise<StoredResponse> {
  const found = await store.find(userId, id)
  if (!found) throw notFound()
  return found
}

/** Returns the items of an input with their own ids. */
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

/** Dependencies for reading stored responses. */
interface StoredPorts extends Pick<ResponsePorts, 'store' | 'background' | 'runs'> {
  reply: ReplyPorts
}

const ownedIn = (c: Context<Env, '/v1/responses/:response_id'>): Owned => ({
  id: c.req.param('response_id'),
  userId: c.var.principal.userId,
})

const streaming = [
  {
    name: 'stream',
    in: 'query' as const,
    description: 'Its events, of an answer in the background that was asked for as a stream',
    schema: { type: 'string' as const, enum: ['true', 'false'] },
  },
  {
    name: 'starting_after',
    in: 'query' as const,
    description: 'The `sequence_number` of an event; those behind it follow',
    schema: { type: 'integer' as const, minimum: 0 },
  },
]

/** Stored responses of the calling account. */
export const storedResponseRoutes = (ports: StoredPorts, guards: Guards) =>
  new Hono<Env>().route('/', answerRoutes(ports, guards)).route('/', otherRoutes(ports, guards))

const answerRoutes = (ports: StoredPorts, guards: Guards) =>
  new Hono<Env>()
    .get(
      '/v1/responses/:response_id',
      describeRoute({
        ...shared,
        operationId: 'getResponse',
        summary: 'A response that was kept, or is made in the background',
        parameters: [...parameters, ...streaming],
        responses: {
          ...streamOr('The response; with `stream` true, its events', ResponseAnswer, lines),
          ...refusals,
        },
      }),
      guards.key('read'),
      async (c) => {
        const { stream, ...query } = c.req.query()
        if (stream !== 'true') return c.json(await responseOf(ports, ownedIn(c)))
        const reply = await streamOf(ports, ownedIn(c), startingAfter(query))
        const asked = { request: c.req.raw, requestId: c.get('requestId') }
        return respondWithStream(asked, reply, { ports: ports.reply })
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
        const owned = ownedIn(c)
        const { id, userId } = owned
        if (!(await ports.store.delete(userId, id))) throw notFound()
        ports.runs.deleted(owned)
        return c.json({ id, object: 'response', deleted: true })
      },
    )

const otherRoutes = (ports: StoredPorts, guards: Guards) =>
  new Hono<Env>()
    .post(
      '/v1/responses/:response_id/cancel',
      describeRoute({
        ...shared,
        operationId: 'cancelResponse',
        summary: 'Cancel a response that is made in the background',
        parameters,
        responses: { ...answers(200, 'The response as it stands', ResponseAnswer), ...refusals },
      }),
      guards.key('write'),
      async (c) => {
        const id = c.req.param('response_id')
        return c.json(await cancelled(ports, { id, userId: c.var.principal.userId }))
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
          ...refusals,
        },
      }),
      guards.key('read'),
      async (c) => {
        const { userId } = c.var.principal
        const stored = await storedOf(ports.store, userId, c.req.param('response_id'))
        return c.json(toInputItems(stored, itemQuery(c.req.query())))
      },
    )
