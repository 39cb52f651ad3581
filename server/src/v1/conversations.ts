import { z } from 'zod'
import {
  assertStoring,
  ConversationAnswer,
  ConversationChange,
  conversationParams,
  NewConversation,
  requireFound,
  toConversationAnswer,
} from './conversation-request'
import { modelKey } from '../http/access'
import { route, type Route } from '../http/route'
import type { ResponseKeeping } from '../stored-responses/response-turn'

type Conversations = ResponseKeeping['conversations']

const tag = 'Models'
const path = '/v1/conversations'
const params = conversationParams

const Deleted = z
  .object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) })
  .meta({ ref: 'DeletedConversation' })

/** Conversations of the calling account, without their items. */
export const conversationRoutes = (keeping: ResponseKeeping): Route[] => [
  createConversation(keeping),
  getConversation(keeping.conversations),
  updateConversation(keeping.conversations),
  deleteConversation(keeping.conversations),
]

const createConversation = ({ conversations, mode }: ResponseKeeping) =>
  route({
    method: 'post',
    path,
    access: modelKey('write', { body: 'bulk' }),
    operationId: 'createConversation',
    tag,
    summary: 'Create a conversation',
    notes:
      'With up to 20 items. `conversation` of `POST /v1/responses` names it; it is deleted after a time without use.',
    body: NewConversation,
    examples: {
      'With a first message': {
        items: [{ type: 'message', role: 'user', content: 'Hello!' }],
        metadata: { topic: 'greetings' },
      },
    },
    responses: { 200: ConversationAnswer },
    errors: ['invalid_request'],
    handler: async ({ principal, body: { items, metadata } }) => {
      assertStoring(mode)
      const fields = { items: items ?? [], metadata: metadata ?? {} }
      return toConversationAnswer(await conversations.create(principal.userId, fields))
    },
  })

const getConversation = (conversations: Conversations) =>
  route({
    method: 'get',
    path: `${path}/:conversation_id`,
    access: modelKey('read'),
    operationId: 'getConversation',
    tag,
    summary: 'Get a conversation',
    notes: 'Without its items, which have a list.',
    params,
    responses: { 200: ConversationAnswer },
    errors: ['invalid_request', 'resource_not_found'],
    handler: async ({ principal, params: { conversation_id: id } }) => {
      const conversation = await conversations.find(principal.userId, id)
      return toConversationAnswer(requireFound(conversation, 'conversation_id'))
    },
  })

const updateConversation = (conversations: Conversations) =>
  route({
    method: 'post',
    path: `${path}/:conversation_id`,
    access: modelKey('write', { body: 'bulk' }),
    operationId: 'updateConversation',
    tag,
    summary: 'Update the metadata of a conversation',
    notes: 'Replaces all of `metadata`; without the field nothing changes.',
    params,
    body: ConversationChange,
    examples: { 'Other metadata': { metadata: { topic: 'weather' } } },
    responses: { 200: ConversationAnswer },
    errors: ['invalid_request', 'resource_not_found'],
    handler: async ({ principal: { userId }, params: { conversation_id: id }, body }) => {
      const conversation = body.metadata
        ? await conversations.update(userId, id, body.metadata)
        : await conversations.find(userId, id)
      return toConversationAnswer(requireFound(conversation, 'conversation_id'))
    },
  })

const deleteConversation = (conversations: Conversations) =>
  route({
    method: 'delete',
    path: `${path}/:conversation_id`,
    access: modelKey('write'),
    operationId: 'deleteConversation',
    tag,
    summary: 'Delete a conversation and its items',
    notes: 'Stored responses of the conversation stay.',
    params,
    responses: { 200: Deleted },
    errors: ['invalid_request', 'resource_not_found'],
    handler: async ({ principal, params: { conversation_id: id } }) => {
      const isDeleted = await conversations.delete(principal.userId, id)
      requireFound(isDeleted || undefined, 'conversation_id')
      return { id, object: 'conversation.deleted' as const, deleted: true as const }
    },
  })
