import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { trimmed } from '../../../http/fields'
import { broken } from '../../../wire/field-error'

const content = z.string().min(1).max(20_000)
const description = z.string().max(1000)
const category = trimmed(50, 0)
const tags = z.array(trimmed(50)).max(20)

/** A new prompt. Source: contract 6.10. */
export const NewPrompt = z.object({
  title: trimmed(200),
  content: content.describe('`{{name}}` stands for what is filled in'),
  description: description.nullish(),
  category: category.nullish(),
  tags: tags.nullish().transform((value) => value ?? []),
  is_favorite: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
})
export type NewPrompt = z.output<typeof NewPrompt>

export const ChangedPrompt = z.object({
  title: trimmed(200).optional(),
  content: content.optional(),
  description: description.nullish(),
  category: category.nullish(),
  tags: tags.optional(),
  is_favorite: z.boolean().optional(),
  used: z.literal(true).optional().describe('Adds 1 to `usage_count`'),
})
export type ChangedPrompt = z.output<typeof ChangedPrompt>

// Each item is validated alone, so any value passes here.
const some = z.array(z.unknown()).min(1).max(100)
const asPrompts = z.array(NewPrompt).min(1).max(100)

/** A bulk request: prompts to create, or to delete. */
export const Bulk = z
  .object({
    action: z
      .enum(['create', 'delete'])
      .nullish()
      .transform((value) => value ?? 'create'),
    prompts: some.nullish(),
    ids: some.nullish(),
  })
  .superRefine(({ action, prompts, ids }, ctx) => {
    const [wanted, other] = action === 'create' ? ['prompts', 'ids'] : ['ids', 'prompts']
    const sent = { prompts, ids }
    if (!Reflect.get(sent, wanted)) {
      ctx.addIssue(broken('required', `"${action}" needs this field.`, [wanted]))
    } else if (Reflect.get(sent, other)) {
      ctx.addIssue(broken('conflict', `"${action}" takes ${wanted} only.`, [other]))
    }
  })

/** The documented form of a bulk request, with the schemas of its items. */
export const DescribedBulk = z
  .object({
    action: z.enum(['create', 'delete']).default('create').optional(),
    prompts: asPrompts.optional().describe('For `create`'),
    ids: z.array(z.string()).min(1).max(100).optional().describe('For `delete`'),
  })
  .refine(({ prompts, ids }) => prompts !== undefined || ids !== undefined)

export const Prompt = z
  .object({
    id: z.string(),
    title: z.string(),
    content: z.string(),
    description: z.string().nullable(),
    category: z.string().nullable(),
    tags: z.array(z.string()),
    variables: z.array(z.string()).describe('The names of `{{name}}` in `content`, in order'),
    is_favorite: z.boolean(),
    usage_count: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Prompt' })
export type Prompt = z.output<typeof Prompt>

export const PromptList = z.object({ prompts: z.array(Prompt), pagination: Pagination })

export const BulkDone = z
  .object({
    success: z.boolean().describe('Whether none failed'),
    created: z.int(),
    deleted: z.int(),
    failed: z.int(),
    prompts: z.array(Prompt).describe('Those that were made, in the order in which they were sent'),
    errors: z.array(
      z.object({ index: z.int(), param: z.string().nullable(), message: z.string() }),
    ),
  })
  .meta({ ref: 'PromptBulkDone' })
export type BulkDone = z.output<typeof BulkDone>
