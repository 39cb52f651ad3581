import {
  assertStoring,
  ConversationAnswer,
  conversationParams,
  itemParams,
  NewItems,
  requireFound,
  toConversationAnswer,
} from './conversation-request'
import { ItemQuery, ListedItem, ResponseItemList, toItemList } from './item-list'
import { readingOf } from './stored-reading'
import { modelKey } from '../http/access'
import { route, type Route } from '../http/route'
import { toListed } from '../stored-responses/conversation-item'
import type { ResponseKeeping } from '../stored-responses/response-turn'

type Conversations = ResponseKeeping['conversations']

const tag = 'Models'
const path = '/v1/conversations/:conversation_id/items'
const errors = ['invalid_request', 'resource_not_found'] as const

/** The items of conversations of the calling account. */
export const conversationItemRoutes = (keeping: ResponseKeeping): Route[] => [
  listConversationItems(keeping.conversations),
  createConversationItems(keeping),
  getConversationItem(keeping.conversations),
  deleteConversationItem(keeping.conversations),
]

const listConversationItems = (conversations: Conversations) =>
  route({
    method: 'get',
    path,
    access: modelKey('read'),
    operationId: 'listConversationItems',
    tag,
    summary: 'List the items of a conversation',
    notes:
      'Added ones, and the input and output of each request that named the conversation; the latest first.',
    params: conversationParams,
    query: ItemQuery,
    responses: { 200: ResponseItemList },
    errors,
    handler: async ({ c, principal, params: { conversation_id: id }, query }) => {
      const owned = { userId: principal.userId, id }
      const page = await conversations.list(owned, query, readingOf(c, principal))
      const { items, hasMore } = requireFound(page, 'conversation_id')
      return toItemList(items.map(toListed), hasMore)
    },
  })

const createConversationItems = ({ conversations, mode }: ResponseKeeping) =>
  route({
    method: 'post',
    path,
    access: modelKey('write', { body: 'bulk' }),
    operationId: 'createConversationItems',
    tag,
    summary: 'Add items to a conversation',
    notes: 'Up to 20, all or none. An id that another of its items has is replaced.',
    params: conversationParams,
    body: NewItems,
    examples: { 'A message': { items: [{ type: 'message', role: 'user', content: 'And?' }] } },
    responses: { 200: ResponseItemList },
    errors,
    handler: async ({ principal, params: { conversation_id: id }, body }) => {
      assertStoring(mode)
      const items = await conversations.add(principal.userId, id, body.items)
      return toItemList(requireFound(items, 'conversation_id').map(toListed), false)
    },
  })

const getConversationItem = (conversations: Conversations) =>
  route({
    method: 'get',
    path: `${path}/:item_id`,
    access: modelKey('read'),
    operationId: 'getConversationItem',
    tag,
    summary: 'Get an item of a conversation',
    notes: 'Texts of messages are lists of parts, in whichever form the client sent them.',
    params: itemParams,
    responses: { 200: ListedItem },
    errors,
    handler: async ({ c, principal, params: { conversation_id: id, item_id: itemId } }) => {
      const owned = { userId: principal.userId, id }
      const item = await conversations.item(owned, itemId, readingOf(c, principal))
      return toListed(requireFound(item, 'item_id'))
    },
  })

const deleteConversationItem = (conversations: Conversations) =>
  route({
    method: 'delete',
    path: `${path}/:item_id`,
    access: modelKey('write'),
    operationId: 'deleteConversationItem',
    tag,
    summary: 'Delete an item of a conversation',
    notes: 'Returns the conversation. Later requests continue without the item.',
    params: itemParams,
    responses: { 200: ConversationAnswer },
    errors,
    handler: async ({ principal, params: { conversation_id: id, item_id: itemId } }) => {
      const conversation = await conversations.deleteItem(principal.userId, id, itemId)
      return toConversationAnswer(requireFound(conversation, 'item_id'))
    },
  })
