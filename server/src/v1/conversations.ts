import { Hono } from 'hono'
import { describeRoute } from 'hono-openapi'
import { z } from 'zod'
import {
  assertKeeping,
  ConversationAnswer,
  ConversationChange,
  conversationPath,
  fieldsOf,
  found,
  NewConversation,
  shown,
} from './conversation-request'
import { accepts, answers, documented, keyErrors } from '../http/documentation'
import type { Env } from '../http/env'
import type { Guards } from '../http/guards'
import type { ResponseKeeping } from '../stored-responses/turn'

const Deleted = z
  .object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) })
  .meta({ ref: 'DeletedConversation' })

const inCommon = { tags: ['Models'], security: [{ apiKey: [] }] }
const refusals = documented('invalid_request', ...keyErrors)
const problems = documented('invalid_request', 'resource_not_found', ...keyErrors)

const ownRoutes = (
  { conversations, mode }: Pick<ResponseKeeping, 'conversations' | 'mode'>,
  guards: Guards,
) =>
  new Hono<Env>()
    .post(
      '/v1/conversations',
      describeRoute({
        ...inCommon,
        operationId: 'createConversation',
        summary: 'Begin a conversation, which requests for responses go on from',
        requestBody: accepts('NewConversation', NewConversation, {
          'With what was said': {
            items: [{ type: 'message', role: 'user', content: 'Hello!' }],
            metadata: { topic: 'greetings' },
          },
        }),
        responses: { ...answers(200, 'The conversation', ConversationAnswer), ...refusals },
      }),
      guards.key('write'),
      async (c) => {
        assertKeeping(mode)
        const { items, metadata } = await fieldsOf(c, NewConversation)
        const fields = { items: items ?? [], metadata: metadata ?? {} }
        return c.json(shown(await conversations.create(c.var.principal.userId, fields)))
      },
    )
    .get(
      '/v1/conversations/:conversation_id',
      describeRoute({
        ...inCommon,
        operationId: 'getConversation',
        summary: 'A conversation, without its items',
        parameters: conversationPath,
        responses: { ...answers(200, 'The conversation', ConversationAnswer), ...problems },
      }),
      guards.key('read'),
      async (c) => {
        const id = c.req.param('conversation_id')
        const asked = await conversations.find(c.var.principal.userId, id)
        return c.json(shown(found(asked, 'conversation_id')))
      },
    )

const changeRoutes = ({ conversations }: Pick<ResponseKeeping, 'conversations'>, guards: Guards) =>
  new Hono<Env>()
    .post(
      '/v1/conversations/:conversation_id',
      describeRoute({
        ...inCommon,
        operationId: 'updateConversation',
        summary: 'Change the metadata of a conversation',
        parameters: conversationPath,
        requestBody: accepts('ConversationChange', ConversationChange, {
          'Other metadata': { metadata: { topic: 'weather' } },
        }),
        responses: { ...answers(200, 'The conversation', ConversationAnswer), ...problems },
      }),
      guards.key('write'),
      async (c) => {
        const id = c.req.param('conversation_id')
        const { metadata } = await fieldsOf(c, ConversationChange)
        const { userId } = c.var.principal
        const asked = metadata
          ? await conversations.update(userId, id, metadata)
          : await conversations.find(userId, id)
        return c.json(shown(found(asked, 'conversation_id')))
      },
    )
    .delete(
      '/v1/conversations/:conversation_id',
      describeRoute({
        ...inCommon,
        operationId: 'deleteConversation',
        summary: 'Delete a conversation with all of its items',
        parameters: conversationPath,
        responses: { ...answers(200, 'It is deleted', Deleted), ...problems },
      }),
      guards.key('write'),
      async (c) => {
        const id = c.req.param('conversation_id')
        const isDeleted = await conversations.delete(c.var.principal.userId, id)
        found(isDeleted || undefined, 'conversation_id')
        return c.json({ id, object: 'conversation.deleted' as const, deleted: true as const })
      },
    )

/** Conversations of the calling account, without their items. */
export const conversationRoutes = (keeping: ResponseKeeping, guards: Guards) =>
  new Hono<Env>().route('/', ownRoutes(keeping, guards)).route('/', changeRoutes(keeping, guards))
