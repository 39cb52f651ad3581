import { BulkDone, ChangedPrompt, DescribedBulk, NewPrompt, Prompt, PromptList } from './schema'
import { accountRoute, Done, paging } from '../../../http/documentation'

const tag = 'Prompts'

const example = { title: 'Translate', content: 'Translate into {{language}}: {{text}}' }

export const listPrompts = accountRoute({
  operationId: 'listPrompts',
  summary: 'Your prompts, newest first',
  tag,
  query: ['search', 'category', 'tag', 'is_favorite', ...paging],
  answer: PromptList,
})

export const createPrompt = accountRoute({
  operationId: 'createPrompt',
  summary: 'Keep a prompt',
  tag,
  status: 201,
  body: ['NewPrompt', NewPrompt, { 'With two variables': example }],
  answer: Prompt,
})

export const changePrompt = accountRoute({
  operationId: 'changePrompt',
  summary: 'Change a prompt, or say that it was used',
  tag,
  path: ['id'],
  body: ['ChangedPrompt', ChangedPrompt, { 'It was used': { used: true } }],
  answer: Prompt,
})

export const deletePrompt = accountRoute({
  operationId: 'deletePrompt',
  summary: 'Delete a prompt',
  tag,
  path: ['id'],
  answer: Done,
})

export const bulkPrompts = accountRoute({
  operationId: 'bulkPrompts',
  summary: 'Keep or delete many prompts at once; each is judged alone',
  tag,
  status: 201,
  otherwise: 'Those that were named were deleted',
  body: ['PromptBulk', DescribedBulk, { 'Keep two': { prompts: [example, example] } }],
  answer: BulkDone,
})
