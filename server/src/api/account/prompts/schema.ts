import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { bulkItems } from '../../../http/bulk'
import { trimmed, withoutNulls } from '../../../http/fields'
import { Pagination } from '../../../http/paging'
import { flag } from '../../../http/query'
import { customIssue } from '../../../wire/field-error'

const content = z.string().min(1).max(20_000)
const description = z.string().max(1000)
const category = trimmed(50, 0)
const tags = z.array(trimmed(50)).max(20)

/** A new prompt. Source: contract 6.10. */
export const NewPrompt = z
  .object({
    title: trimmed(200),
    content: content.describe('`{{name}}` is a variable'),
    description: description.nullish(),
    category: category.nullish(),
    tags: tags.nullish().transform((value) => value ?? []),
    is_favorite: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
  })
  .meta({ ref: 'NewPrompt' })
export type NewPrompt = z.output<typeof NewPrompt>

export const ChangedPrompt = z
  .object({
    title: trimmed(200).optional(),
    content: content.optional(),
    description: description.nullish(),
    category: category.nullish(),
    tags: tags.optional(),
    is_favorite: z.boolean().optional(),
    used: z.literal(true).optional().describe('Adds 1 to `usage_count`'),
  })
  .meta({ ref: 'ChangedPrompt' })
export type ChangedPrompt = z.output<typeof ChangedPrompt>

/** A bulk request: prompts to create, or IDs of prompts to delete. */
export const PromptBulk = z
  .object({
    action: z.enum(['create', 'delete']).default('create'),
    prompts: bulkItems(z.preprocess(withoutNulls, NewPrompt)).optional().describe('For `create`'),
    ids: bulkItems(z.string()).optional().describe('For `delete`'),
  })
  .superRefine(({ action, prompts, ids }, ctx) => {
    const [required, other] = action === 'create' ? ['prompts', 'ids'] : ['ids', 'prompts']
    const bulkFields = { prompts, ids }
    if (!Reflect.get(bulkFields, required)) {
      ctx.addIssue(customIssue('required', `"${action}" requires this field.`, [required]))
    } else if (Reflect.get(bulkFields, other)) {
      ctx.addIssue(customIssue('conflict', `"${action}" accepts only ${required}.`, [other]))
    }
  })
  .meta({ ref: 'PromptBulk' })

/** A category or a tag that the list is filtered by. */
const filter = z.string().trim().max(50)

/** The query of the list. */
export const PromptFilter = z.object({
  search: z
    .string()
    .trim()
    .max(100)
    .optional()
    .describe('Text in the title, the content or the description'),
  category: filter.optional().describe('Only prompts of this category'),
  tag: filter.optional().describe('Only prompts with this tag'),
  is_favorite: flag.optional().describe('Only favorites, or only others'),
})

export const Prompt = z
  .object({
    id: objectId('prompt'),
    title: z.string(),
    content: z.string(),
    description: z.string().nullable(),
    category: z.string().nullable(),
    tags: z.array(z.string()),
    variables: z.array(z.string()).describe('Names of the variables in `content`, in their order'),
    is_favorite: z.boolean(),
    usage_count: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Prompt' })
export type Prompt = z.output<typeof Prompt>

export const PromptList = z.object({ prompts: z.array(Prompt), pagination: Pagination })

export const PromptBulkResult = z
  .object({
    success: z.boolean().describe('Whether all items succeeded'),
    created: z.int(),
    deleted: z.int(),
    failed: z.int(),
    prompts: z.array(Prompt).describe('The created prompts, in the order of the request'),
    errors: z.array(
      z.object({ index: z.int(), param: z.string().nullable(), message: z.string() }),
    ),
  })
  .meta({ ref: 'PromptBulkDone' })
export type PromptBulkResult = z.output<typeof PromptBulkResult>
