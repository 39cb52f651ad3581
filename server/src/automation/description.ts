import { describeRoute, resolver } from 'hono-openapi'
import { z } from 'zod'
import {
  ChangedSession,
  Completion,
  Conversation,
  Exchange,
  NewMessage,
  NewSession,
  Session,
  SessionList,
} from './schema'
import { ChangedTemplate, NewTemplate, Template, TemplateList } from './template-schema'
import { accepts, accountRoute, answers, describeErrors, Done } from '../http/documentation'
import { modelErrors } from '../v1/description'

const tag = 'Automation'
const path = ['id'] as const
const paging = ['limit', 'offset'] as const

const ofModels = [
  'model_not_found',
  'model_access_denied',
  'organization_required',
  'resource_not_found',
] as const

export const listSessions = accountRoute({
  operationId: 'listAutomationSessions',
  summary: 'Your sessions',
  tag,
  answer: SessionList,
  query: ['status', 'sessionType', 'gatewayId', ...paging],
})

export const createSession = accountRoute({
  operationId: 'createAutomationSession',
  summary: 'Begin a conversation that is kept',
  tag,
  status: 201,
  answer: Session,
  body: [
    'NewAutomationSession',
    NewSession,
    {
      'A chat': { modelId: 'sandbox/echo', systemPrompt: 'Be brief.' },
      'From a template': {
        modelId: 'sandbox/echo',
        templateId: 'tmpl_00000000000000000000000001',
        variables: { language: 'French' },
      },
    },
  ],
  errors: ofModels,
})

export const getSession = accountRoute({
  operationId: 'getAutomationSession',
  summary: 'One session',
  tag,
  answer: Session,
  path,
})

export const changeSession = accountRoute({
  operationId: 'changeAutomationSession',
  summary: 'Change, pause, resume or cancel a session; of a finished one only the name',
  tag,
  answer: Session,
  path,
  body: ['ChangedAutomationSession', ChangedSession, { 'Pause it': { status: 'paused' } }],
  errors: ofModels,
})

export const deleteSession = accountRoute({
  operationId: 'deleteAutomationSession',
  summary: 'Delete a session with its messages; a running call is cancelled',
  tag,
  answer: Done,
  path,
})

export const completeSession = accountRoute({
  operationId: 'completeAutomationSession',
  summary: 'Finish a session',
  tag,
  answer: Session,
  path,
  body: ['AutomationCompletion', Completion, { 'With a summary': { summary: 'All is said.' } }],
})

export const getConversation = accountRoute({
  operationId: 'getAutomationConversation',
  summary: 'What was said in a session, oldest first',
  tag,
  answer: Conversation,
  path,
  query: paging,
})

/** Paid, limited and logged as a chat is. */
export const sendMessage = describeRoute({
  operationId: 'sendAutomationMessage',
  summary: 'Say something in a session; the model answers, whole or as a stream',
  tags: [tag],
  security: [{ apiKey: [] }],
  parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
  requestBody: accepts('NewAutomationMessage', NewMessage, {
    'A question': { content: 'Hello!' },
    'As a stream': { content: 'Hello!', stream: true },
  }),
  responses: {
    ...answers(201, 'What was said, and the answer', Exchange),
    200: {
      description:
        'With `stream` true: server-sent chunks of a chat; results of tools in `tool_message` beside empty deltas',
      content: {
        'text/event-stream': {
          schema: resolver(z.string().describe('`data: <chunk>` lines, ended by `data: [DONE]`')),
        },
      },
    },
    ...modelErrors,
    ...describeErrors('model_not_found', 'resource_not_found'),
  },
})

export const listTemplates = accountRoute({
  operationId: 'listAutomationTemplates',
  summary: 'Your templates, public ones and those of the system',
  tag,
  answer: TemplateList,
  query: ['category', 'search'],
})

export const createTemplate = accountRoute({
  operationId: 'createAutomationTemplate',
  summary: 'Make a template for sessions',
  tag,
  status: 201,
  answer: Template,
  body: [
    'NewAutomationTemplate',
    NewTemplate,
    {
      'With a variable': {
        name: 'Support',
        systemPrompt: 'You help customers of {{company}}.',
        variables: ['company'],
      },
    },
  ],
})

export const changeTemplate = accountRoute({
  operationId: 'changeAutomationTemplate',
  summary: 'Change a template',
  tag,
  answer: Template,
  path,
  body: ['ChangedAutomationTemplate', ChangedTemplate, { 'Share it': { isPublic: true } }],
})

export const deleteTemplate = accountRoute({
  operationId: 'deleteAutomationTemplate',
  summary: 'Delete a template; sessions made from it stay',
  tag,
  answer: Done,
  path,
})
