import type { ConversationStore } from './conversation'
import { sendMessageRoute } from './message-route'
import type { MessagePorts } from './messages'
import { logRefusal } from './refusal-log'
import {
  ChangedSession,
  Completion,
  Conversation,
  ConversationPage,
  NewSession,
  Session,
  SessionFilter,
  SessionList,
} from './schema'
import type { SessionStore } from './sessions'
import { templateRoutes } from './template-routes'
import type { TemplateStore } from './templates'
import { account } from '../http/access'
import { Success, objectId } from '../http/answers'
import { toPage } from '../http/paging'
import { route, type Route } from '../http/route'
import type { ReplyPorts } from '../v1/reply'

/** The dependencies of the routes, except the gateway. */
export interface Automation extends Omit<MessagePorts, 'gateway'> {
  sessions: SessionStore
  templates: TemplateStore
  conversations: ConversationStore
}

interface Ports extends Pick<MessagePorts, 'gateway'> {
  automation: Automation
  reply: ReplyPorts
}

const tag = 'Automation'
const path = '/api/automation/sessions'
const params = { id: objectId('sess').describe('ID of the session') }

const modelErrors = [
  'model_not_found',
  'model_access_denied',
  'organization_required',
  'resource_not_found',
] as const

/** Routes of stored conversations, and of the templates they are created from. Source: contract 8. */
export const automationRoutes = ({ gateway, automation, reply }: Ports): Route[] => [
  listSessions(automation.sessions),
  createSession(automation),
  getSession(automation.sessions),
  changeSession(automation),
  deleteSession(automation.sessions),
  completeSession(automation.sessions),
  sendMessageRoute({ ...automation, gateway }, reply),
  getConversation(automation.conversations),
  ...templateRoutes(automation.templates),
]

const listSessions = (sessions: SessionStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listAutomationSessions',
    tag,
    summary: 'List sessions',
    notes: 'Newest first. Ended sessions are deleted after some time.',
    query: SessionFilter,
    responses: { 200: SessionList },
    handler: ({ principal: { userId }, query }) => {
      const { limit, offset, ...filter } = query
      const scope = `sessions ${userId} ${JSON.stringify(filter)}`
      return sessions.list(userId, filter, toPage({ limit, offset }, scope))
    },
  })

type SessionPorts = Pick<Automation, 'sessions' | 'logs'>

const createSession = ({ sessions, logs }: SessionPorts) =>
  route({
    method: 'post',
    path,
    access: account('write', { body: 'larger' }),
    operationId: 'createAutomationSession',
    tag,
    summary: 'Create a session',
    notes:
      'Fields below `/api/automation` are `camelCase`. Fields that the request omits come from the template; its `{{name}}` are replaced by `variables`.',
    body: NewSession,
    examples: {
      'A chat': { modelId: 'sandbox/echo', systemPrompt: 'Be brief.' },
      'From a template': {
        modelId: 'sandbox/echo',
        templateId: 'tmpl_00000000000000000000000001',
        variables: { language: 'French' },
      },
    },
    responses: { 201: Session },
    errors: modelErrors,
    handler: ({ c, principal, body }) =>
      logRefusal({ c, logs, modelId: body.modelId }, () => sessions.create(principal.userId, body)),
  })

const getSession = (sessions: SessionStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: account('read'),
    operationId: 'getAutomationSession',
    tag,
    summary: 'Get a session',
    notes: '`totalTokens` and `totalCost` cover all of its messages.',
    params,
    responses: { 200: Session },
    handler: ({ principal, params: { id } }) => sessions.get(principal.userId, id),
  })

const changeSession = ({ sessions, logs }: SessionPorts) =>
  route({
    method: 'patch',
    path: `${path}/:id`,
    access: account('write', { body: 'larger' }),
    operationId: 'changeAutomationSession',
    tag,
    summary: 'Update a session or its status',
    notes:
      '`completed`, `cancelled` and `failed` are final: then only the name can change. Cancelling also cancels a running message.',
    params,
    body: ChangedSession,
    examples: { Pause: { status: 'paused' } },
    responses: { 200: Session },
    errors: modelErrors,
    handler: ({ c, principal, params: { id }, body }) => {
      const { modelId } = body
      const change = () => sessions.change(principal.userId, id, body)
      return modelId === undefined ? change() : logRefusal({ c, logs, modelId }, change)
    },
  })

const deleteSession = (sessions: SessionStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: account('write'),
    operationId: 'deleteAutomationSession',
    tag,
    summary: 'Delete a session and its messages',
    notes: 'A running message is cancelled, and charged up to then.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => sessions.delete(principal.userId, id),
  })

const completeSession = (sessions: SessionStore) =>
  route({
    method: 'post',
    path: `${path}/:id/complete`,
    access: account('write', { body: 'larger' }),
    operationId: 'completeAutomationSession',
    tag,
    summary: 'Complete a session',
    notes: 'A running message is finished.',
    params,
    body: Completion,
    examples: { 'With a summary': { summary: 'The customer has the new key.' } },
    responses: { 200: Session },
    handler: ({ principal, params: { id }, body }) =>
      sessions.complete(principal.userId, id, body.summary),
  })

const getConversation = (conversations: ConversationStore) =>
  route({
    method: 'get',
    path: `${path}/:id/conversation`,
    access: account('read'),
    operationId: 'getAutomationConversation',
    tag,
    summary: 'List the messages of a session',
    notes: 'Oldest first, without the system prompt.',
    params,
    query: ConversationPage,
    responses: { 200: Conversation },
    handler: ({ principal: { userId }, params: { id }, query }) =>
      conversations.list(userId, id, toPage(query, `conversation ${userId} ${id}`)),
  })
