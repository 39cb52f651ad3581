import { z } from 'zod'
import { line } from '../http/fields'
import { searchText } from '../http/query'

/** Names of tools that a session may use; tools run on self-hosted gateways. */
export const toolNames = z.array(z.string().min(1).max(128)).max(200)
export const systemPrompt = z.string().max(20_000)
export const modelName = z.string().min(1).max(256)

/** The name of a variable, the `name` of `{{name}}` in a template. */
const variableName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][\w-]*$/, 'must be letters, digits, _ and -, and begin with a letter or _.')

const variables = z
  .array(variableName)
  .max(50)
  .transform((names) => [...new Set(names)])
const description = z.string().trim().max(1000)
const category = z.string().trim().max(50)
const initialMessage = z.string().max(20_000)

/** Source: contract 8.3. */
export const NewTemplate = z
  .object({
    name: line(100),
    description: description.optional(),
    category: category.optional(),
    systemPrompt: systemPrompt.optional(),
    modelId: modelName.optional(),
    enabledTools: toolNames.optional().describe('All where absent'),
    disabledTools: toolNames.default([]),
    initialMessage: initialMessage.optional(),
    variables: variables.default([]).describe('Names that stand as {{name}} in its texts'),
    isPublic: z.boolean().default(false).describe('Whether other accounts can use it'),
  })
  .meta({ ref: 'NewAutomationTemplate' })
export type NewTemplate = z.output<typeof NewTemplate>

export const ChangedTemplate = z
  .object({
    name: line(100),
    description: description.nullable(),
    category: category.nullable(),
    systemPrompt: systemPrompt.nullable(),
    modelId: modelName.nullable(),
    enabledTools: toolNames.nullable(),
    disabledTools: toolNames,
    initialMessage: initialMessage.nullable(),
    variables,
    isPublic: z.boolean(),
  })
  .partial()
  .meta({ ref: 'ChangedAutomationTemplate' })
export type ChangedTemplate = z.output<typeof ChangedTemplate>

/** The query of the list of templates. */
export const TemplateFilter = z.object({
  category: z.string().max(50).optional().describe('Only templates of this category'),
  search: searchText('Text in the name or the description'),
})

export const Template = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    category: z.string().nullable(),
    systemPrompt: z.string().nullable(),
    modelId: z.string().nullable(),
    enabledTools: z.array(z.string()).nullable(),
    disabledTools: z.array(z.string()),
    initialMessage: z.string().nullable(),
    variables: z.array(z.string()),
    isPublic: z.boolean(),
    isSystem: z.boolean(),
    usageCount: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ ref: 'AutomationTemplate' })

export const TemplateList = z
  .object({ templates: z.array(Template) })
  .meta({ ref: 'AutomationTemplateList' })
