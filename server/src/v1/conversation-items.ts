import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import {
  assertKeeping,
  ConversationAnswer,
  conversationPath,
  fieldsOf,
  found,
  itemPath,
  NewItems,
  shown,
} from './conversation-request'
import { itemPaging, itemQuery, ListedItem, ResponseItemList, toItemList } from './item-list'
import { accepts, answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import { toListed } from '../stored-responses/conversation-item'
import type { ResponseKeeping } from '../stored-responses/turn'

const inCommon = { tags: ['Models'], security: [{ apiKey: [] }] }
const problems = documented('invalid_request', 'resource_not_found', ...keyErrors)

const listRoutes = (
  { conversations, mode }: Pick<ResponseKeeping, 'conversations' | 'mode'>,
  guards: Guards,
) =>
  new Hono<Env>()
    .get(
      '/v1/conversations/:conversation_id/items',
      describeRoute({
        ...inCommon,
        operationId: 'listConversationItems',
        summary: 'What was said in a conversation, the latest first',
        parameters: [...conversationPath, ...itemPaging],
        responses: { ...answers(200, 'The items', ResponseItemList), ...problems },
      }),
      guards.key('read'),
      async (c) => {
        const query = itemQuery(c.req.query())
        const id = c.req.param('conversation_id')
        const listed = await conversations.list(c.var.principal.userId, id, query)
        const { items, hasMore } = found(listed, 'conversation_id')
        return c.json(toItemList(items.map(toListed), hasMore))
      },
    )
    .post(
      '/v1/conversations/:conversation_id/items',
      describeRoute({
        ...inCommon,
        operationId: 'createConversationItems',
        summary: 'Add up to 20 items at the end of a conversation',
        parameters: conversationPath,
        requestBody: accepts('NewConversationItems', NewItems, {
          'A message': { items: [{ type: 'message', role: 'user', content: 'And?' }] },
        }),
        responses: { ...answers(200, 'The items that were added', ResponseItemList), ...problems },
      }),
      guards.key('write'),
      async (c) => {
        assertKeeping(mode)
        const id = c.req.param('conversation_id')
        const { items } = await fieldsOf(c, NewItems)
        const added = await conversations.add(c.var.principal.userId, id, items)
        return c.json(toItemList(found(added, 'conversation_id').map(toListed), false))
      },
    )

const itemRoutes = ({ conversations }: Pick<ResponseKeeping, 'conversations'>, guards: Guards) =>
  new Hono<Env>()
    .get(
      '/v1/conversations/:conversation_id/items/:item_id',
      describeRoute({
        ...inCommon,
        operationId: 'getConversationItem',
        summary: 'An item of a conversation',
        parameters: itemPath,
        responses: { ...answers(200, 'The item', ListedItem), ...problems },
      }),
      guards.key('read'),
      async (c) => {
        const { userId } = c.var.principal
        const { conversation_id: id, item_id: itemId } = c.req.param()
        const item = await conversations.item(userId, id, itemId)
        return c.json(toListed(found(item, 'item_id')))
      },
    )
    .delete(
      '/v1/conversations/:conversation_id/items/:item_id',
      describeRoute({
        ...inCommon,
        operationId: 'deleteConversationItem',
        summary: 'Delete an item of a conversation',
        parameters: itemPath,
        responses: { ...answers(200, 'The conversation', ConversationAnswer), ...problems },
      }),
      guards.key('write'),
      async (c) => {
        const { userId } = c.var.principal
        const { conversation_id: id, item_id: itemId } = c.req.param()
        const conversation = await conversations.deleteItem(userId, id, itemId)
        return c.json(shown(found(conversation, 'item_id')))
      },
    )

/** The items of conversations of the calling account. */
export const conversationItemRoutes = (keeping: ResponseKeeping, guards: Guards) =>
  new Hono<Env>().route('/', listRoutes(keeping, guards)).route('/', itemRoutes(keeping, guards))
