import { z } from 'zod'
import type { ListedFacts } from './listed-model'
import { toMessagesCapabilities } from '../catalog/messages-capabilities'
import { isRetired } from '../catalog/retirement'

const support = z.object({ supported: z.boolean() })

const Capabilities = z.object({
  batch: support,
  citations: support,
  code_execution: support,
  context_management: z.object({
    supported: z.boolean(),
    clear_thinking_20251015: support.nullable(),
    clear_tool_uses_20250919: support.nullable(),
    compact_20260112: support.nullable(),
  }),
  effort: z.object({
    supported: z.boolean(),
    low: support,
    medium: support,
    high: support,
    xhigh: support.nullable(),
    max: support,
  }),
  image_input: support,
  pdf_input: support,
  server_tools: z.object({
    supported: z.boolean(),
    web_search: support,
    code_execution: support,
  }),
  structured_outputs: support,
  thinking: z.object({
    supported: z.boolean(),
    types: z.object({
      adaptive: support,
      between_tools: support,
      disabled: support,
      enabled: support,
    }),
  }),
})

export const AnthropicModel = z
  .object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string().describe('RFC 3339'),
    max_input_tokens: z.int().nullable().describe('Maximum length of the prompt.'),
    max_tokens: z.int().nullable().describe('Maximum length of the answer.'),
    capabilities: Capabilities.nullable().describe('Null for models that do not chat.'),
    lifecycle: z
      .enum(['active', 'deprecated', 'retired'])
      .describe(
        '`deprecated` where the provider has announced a day for switching it off, `retired` from that day on.',
      ),
    deprecated_at: z
      .string()
      .nullable()
      .describe('Always null: the announcement has no date here.'),
    retires_at: z.string().nullable().describe('The announced day, RFC 3339.'),
    line: z.string().nullable(),
  })
  .meta({
    ref: 'AnthropicModel',
    examples: [
      {
        type: 'model',
        id: 'sandbox/embedding',
        display_name: 'Sandbox Embedding',
        created_at: '2026-11-01T00:00:00Z',
        max_input_tokens: null,
        max_tokens: null,
        capabilities: null,
        lifecycle: 'active',
        deprecated_at: null,
        retires_at: null,
        line: null,
      },
    ],
  })

export const AnthropicModelList = z
  .object({
    data: z.array(AnthropicModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ ref: 'AnthropicModelList' })

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

function lifecycleOf(model: ListedFacts) {
  if (model.deprecatedAt === null) return 'active'
  return isRetired(model, Date.now()) ? 'retired' : 'deprecated'
}

/** Shows a model in Anthropic's format. @see https://docs.claude.com/en/api/models-list */
export const toAnthropicModel = (model: ListedFacts) => ({
  type: 'model' as const,
  id: model.id,
  display_name: model.name,
  created_at: timeOf(model.createdAt),
  max_input_tokens: model.maxInputTokens ?? model.contextLength,
  max_tokens: model.maxOutputTokens,
  capabilities: toMessagesCapabilities(model),
  lifecycle: lifecycleOf(model),
  deprecated_at: null,
  retires_at: model.deprecatedAt === null ? null : timeOf(model.deprecatedAt),
  line: null,
})
