import {
  ChangedTemplate,
  NewTemplate,
  Template,
  TemplateFilter,
  TemplateList,
} from './template-schema'
import type { TemplateStore } from './templates'
import { account } from '../http/access'
import { Success, objectId } from '../http/answers'
import { route, type Route } from '../http/route'

const tag = 'Automation'
const path = '/api/automation/templates'
const params = { id: objectId('tmpl').describe('ID of the template') }

/** Templates of sessions. Source: contract 8.3. */
export const templateRoutes = (templates: TemplateStore): Route[] => [
  listTemplates(templates),
  createTemplate(templates),
  changeTemplate(templates),
  deleteTemplate(templates),
]

const listTemplates = (templates: TemplateStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listAutomationTemplates',
    tag,
    summary: 'List templates',
    notes: 'Your own, those of the system, and the 500 newest public ones of other accounts.',
    query: TemplateFilter,
    responses: { 200: TemplateList },
    handler: ({ principal, query: { category, search } }) =>
      templates.list(principal.userId, { category, search }),
  })

const createTemplate = (templates: TemplateStore) =>
  route({
    method: 'post',
    path,
    access: account('write', { body: 'larger' }),
    operationId: 'createAutomationTemplate',
    tag,
    summary: 'Create a template',
    notes:
      '`{{name}}` in its prompt and first message is replaced when a session is created from it.',
    body: NewTemplate,
    examples: {
      'With a variable': {
        name: 'Support',
        systemPrompt: 'You help customers of {{company}}.',
        variables: ['company'],
      },
    },
    responses: { 201: Template },
    handler: ({ principal, body }) => templates.create(principal.userId, body),
  })

const changeTemplate = (templates: TemplateStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: account('write', { body: 'larger' }),
    operationId: 'changeAutomationTemplate',
    tag,
    summary: 'Update a template',
    notes: 'Existing sessions do not change.',
    params,
    body: ChangedTemplate,
    examples: { Share: { isPublic: true } },
    responses: { 200: Template },
    handler: ({ principal, params: { id }, body }) => templates.change(principal.userId, id, body),
  })

const deleteTemplate = (templates: TemplateStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: account('write'),
    operationId: 'deleteAutomationTemplate',
    tag,
    summary: 'Delete a template',
    notes: 'Sessions that were created from it stay.',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => templates.delete(principal.userId, id),
  })
