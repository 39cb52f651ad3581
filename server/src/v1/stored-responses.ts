import { z } from 'zod'
import { backgroundReply } from './background-stream'
import { jsonOrEvents } from './description'
import { ItemQuery, ResponseItemList, toItemList } from './item-list'
import { respondWithStream, type ReplyPorts } from './reply'
import { ResponseAnswer } from './response-schema'
import type { ResponsePorts } from './responses'
import { readingOf } from './stored-reading'
import { ApiError, invalidRequest } from '../errors'
import type { StreamReply } from '../gateway/request'
import { modelKey } from '../http/access'
import { lenientFlag } from '../http/query'
import { route, type Route } from '../http/route'
import type { Owned } from '../stored-responses/background-store'
import { toInputItemId } from '../stored-responses/item-ids'
import type { ResponseStore, StoredResponse } from '../stored-responses/store'
import type { Pause } from '../wire/json-slices'
import type { JsonObject } from '../wire/json-body'

const Deleted = z
  .object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
  .meta({ ref: 'DeletedResponse' })

const tag = 'Models'
const path = '/v1/responses/:response_id'
const params = {
  response_id: z
    .string()
    .max(256)
    .describe('The `id` of a stored response')
    .meta({ examples: ['resp_01m7zbr7rr3rrzfbtxk7716g95'] }),
}
const errors = ['resource_not_found', 'gateway_unavailable'] as const

const ResponseQuery = z.object({
  stream: lenientFlag.describe(
    'Streams the events of a background response that was created as a stream',
  ),
  starting_after: z.coerce
    .number()
    .int()
    .min(-1)
    .default(-1)
    .describe('Only events after this `sequence_number`'),
})

const lines = '`event: <type>` and `data: <event>` lines'

const notFound = () =>
  new ApiError('resource_not_found', {
    param: 'response_id',
    message: 'This account has no such response: it was not stored, was deleted, or has expired.',
  })

/** Streams the events of a background response, running or ended. Rejects with `invalid_request`. */
async function streamOf(
  { store, background, runs }: StoredPorts,
  owned: Owned,
  after: number,
): Promise<StreamReply> {
  const standing = await background.find(owned)
  if (!standing?.storesEvents) {
    await storedOf(store, owned)
    throw invalidRequest(
      'stream',
      'wrong_state',
      'stream: only a background response that was requested as a stream can be read as a stream, up to an hour after its end.',
    )
  }
  return backgroundReply(background, { owned, after, onClose: runs.readers.admit(owned.userId) })
}

/** Returns the current response; one whose node is gone has failed. */
async function responseOf(ports: StoredPorts, owned: Owned, pause: Pause): Promise<JsonObject> {
  const { response } = await storedOf(ports.store, owned, pause)
  if (response['background'] !== true) return response
  return (await ports.background.find(owned, pause))?.response ?? response
}

/** Cancels a response, once: one that has ended stays unchanged. Rejects with `invalid_request`. */
async function cancelled(
  { store, runs }: StoredPorts,
  owned: Owned,
  pause: Pause,
): Promise<JsonObject> {
  const standing = await runs.cancel(owned, pause)
  if (standing?.isBackground) return standing.response
  await storedOf(store, owned, pause)
  throw invalidRequest(
    'response_id',
    'wrong_state',
    'response_id: only a response that was requested with "background": true can be cancelled.',
  )
}

/** Finds a response that the database may not have yet. Rejects with `resource_not_found`. */
async function storedOf(
  store: ResponseStore,
  { userId, id }: Owned,
  pause?: Pause,
): Promise<StoredResponse> {
  const response = await store.find(userId, id, pause)
  if (!response) throw notFound()
  return response
}

/** Returns the items of an input with their own ids. */
function toInputItems({ id, input }: StoredResponse, query: ItemQuery) {
  const { limit, order, after } = query
  const items = input.map((item, index) => toListed(item, toInputItemId(id, index)))
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

/** Stored responses of the calling account. */
export const storedResponseRoutes = (ports: StoredPorts): Route[] => [
  getResponse(ports),
  deleteResponse(ports),
  cancelResponse(ports),
  listResponseInputItems(ports),
]

const getResponse = (ports: StoredPorts) =>
  route({
    method: 'get',
    path,
    access: modelKey('read'),
    operationId: 'getResponse',
    tag,
    summary: 'Get a stored response',
    notes:
      'Any key of the account that created it can read it. Responses are stored unless their request has `store` false or the operator stores none. With `stream` true, the events of a background response that was created as a stream, up to an hour after its end.',
    params,
    query: ResponseQuery,
    responses: {
      200: jsonOrEvents('The response; with `stream` true, its events', ResponseAnswer, lines),
    },
    errors: ['invalid_request', ...errors],
    handler: async ({ c, principal, params: { response_id: id }, query }) => {
      const owned = { id, userId: principal.userId }
      if (!query.stream) return c.json(await responseOf(ports, owned, readingOf(c, principal)))
      const reply = await streamOf(ports, owned, query.starting_after)
      const exchange = { request: c.req.raw, requestId: c.get('requestId') }
      return respondWithStream(exchange, reply, { ports: ports.reply })
    },
  })

const deleteResponse = (ports: StoredPorts) =>
  route({
    method: 'delete',
    path,
    access: modelKey('write'),
    operationId: 'deleteResponse',
    tag,
    summary: 'Delete a stored response',
    notes:
      'With the input of its request. Responses that continue it stay, but nothing can continue those.',
    params,
    responses: { 200: Deleted },
    errors,
    handler: async ({ principal: { userId }, params: { response_id: id } }) => {
      if (!(await ports.store.delete(userId, id))) throw notFound()
      ports.runs.deleted({ id, userId })
      return { id, object: 'response' as const, deleted: true as const }
    },
  })

const cancelResponse = (ports: StoredPorts) =>
  route({
    method: 'post',
    path: `${path}/cancel`,
    access: modelKey('write'),
    operationId: 'cancelResponse',
    tag,
    summary: 'Cancel a background response',
    notes:
      'A response that has ended does not change. Usage that the provider bills for a cancelled request is charged.',
    params,
    responses: { 200: ResponseAnswer.describe('The current response') },
    errors: ['invalid_request', ...errors],
    handler: async ({ c, principal, params: { response_id: id } }) => {
      const owned = { id, userId: principal.userId }
      return c.json(await cancelled(ports, owned, readingOf(c, principal)))
    },
  })

const listResponseInputItems = ({ store }: StoredPorts) =>
  route({
    method: 'get',
    path: `${path}/input_items`,
    access: modelKey('read'),
    operationId: 'listResponseInputItems',
    tag,
    summary: 'List the input items of a stored response',
    notes:
      'The input of its own request, without the responses before it; the latest first. Items without an id receive one.',
    params,
    query: ItemQuery,
    responses: { 200: ResponseItemList },
    errors: ['invalid_request', ...errors],
    handler: async ({ c, principal, params: { response_id: id }, query }) => {
      const owned = { id, userId: principal.userId }
      return toInputItems(await storedOf(store, owned, readingOf(c, principal)), query)
    },
  })
