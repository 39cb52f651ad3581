import {
  PromptBulkResult,
  ChangedPrompt,
  NewPrompt,
  Prompt,
  PromptBulk,
  PromptFilter,
  PromptList,
} from './schema'
import type { PromptStore } from './store'
import { account } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Prompts'
const path = '/api/user/prompts'
const params = { id: objectId('prompt').describe('ID of the prompt') }

/** Saved prompts of an account. Source: contract 6.10. */
export const promptRoutes = (prompts: PromptStore): Route[] => [
  listPrompts(prompts),
  createPrompt(prompts),
  bulkPrompts(prompts),
  changePrompt(prompts),
  deletePrompt(prompts),
]

const listPrompts = (prompts: PromptStore) =>
  route({
    method: 'get',
    path,
    access: account('read'),
    operationId: 'listPrompts',
    tag,
    summary: 'List prompts',
    notes: 'Newest first.',
    query: PromptFilter.extend(pageFields),
    responses: { 200: PromptList },
    handler({ principal: { userId }, query: { limit, offset, cursor, ...filter } }) {
      const page = toPage({ limit, offset, cursor }, `prompts ${userId} ${JSON.stringify(filter)}`)
      return prompts.list(userId, page, filter)
    },
  })

const example = { title: 'Translate', content: 'Translate into {{language}}: {{text}}' }

const createPrompt = (prompts: PromptStore) =>
  route({
    method: 'post',
    path,
    access: account('write', { body: 'larger' }),
    operationId: 'createPrompt',
    tag,
    summary: 'Create a prompt',
    notes: 'An account has at most 5,000 prompts.',
    body: NewPrompt,
    examples: { 'With two variables': example },
    responses: { 201: Prompt },
    handler: ({ principal, body }) => prompts.create(principal.userId, body),
  })

const bulkPrompts = (prompts: PromptStore) =>
  route({
    method: 'post',
    path: `${path}/bulk`,
    access: account('write', { body: 'bulk' }),
    operationId: 'bulkPrompts',
    tag,
    summary: 'Create or delete many prompts',
    notes:
      'Takes up to 100 items and validates each alone: `errors` lists those that failed, by `index`. The response is 400 if all failed.',
    body: PromptBulk,
    examples: { 'Create two prompts': { prompts: [example, example] } },
    responses: {
      200: PromptBulkResult.describe('The prompts were deleted'),
      201: PromptBulkResult.describe('The prompts were created'),
    },
    async handler({ c, principal: { userId }, body: { action, prompts: items, ids } }) {
      return action === 'create'
        ? c.json(await prompts.createMany(userId, items ?? []), 201)
        : c.json(await prompts.deleteMany(userId, ids ?? []))
    },
  })

const changePrompt = (prompts: PromptStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access: account('write', { body: 'larger' }),
    operationId: 'changePrompt',
    tag,
    summary: 'Update a prompt',
    notes: '`used` counts a use of the prompt.',
    params,
    body: ChangedPrompt,
    examples: { 'Count a use': { used: true } },
    responses: { 200: Prompt },
    handler: ({ principal, params: { id }, body }) => prompts.change(principal.userId, id, body),
  })

const deletePrompt = (prompts: PromptStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access: account('write'),
    operationId: 'deletePrompt',
    tag,
    summary: 'Delete a prompt',
    params,
    responses: { 200: Success },
    handler: ({ principal, params: { id } }) => prompts.delete(principal.userId, id),
  })
