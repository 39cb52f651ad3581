import { z } from 'zod'
import type { Model } from '../catalog/model'

export const AnthropicModel = z
  .object({
    type: z.literal('model'),
    id: z.string(),
    display_name: z.string(),
    created_at: z.string().describe('RFC 3339'),
  })
  .meta({
    ref: 'AnthropicModel',
    examples: [
      {
        type: 'model',
        id: 'sandbox/echo',
        display_name: 'Echo',
        created_at: '2026-01-01T00:00:00Z',
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

/** Shows a model in Anthropic's format. @see https://docs.claude.com/en/api/models-list */
export const toAnthropicModel = ({
  id,
  name,
  createdAt,
}: Pick<Model, 'id' | 'name' | 'createdAt'>) => ({
  type: 'model' as const,
  id,
  display_name: name,
  created_at: new Date(createdAt * 1000).toISOString().replace('.000Z', 'Z'),
})

/** Lists all models on one page. */
export const toAnthropicList = (data: readonly ReturnType<typeof toAnthropicModel>[]) => ({
  data,
  has_more: false,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
})
