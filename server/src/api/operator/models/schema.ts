import { z } from 'zod'
import { capabilities, categories } from '../../../catalog/model'
import { PricingFields } from '../../../catalog/pricing-fields'
import { timestamp, trimmed } from '../../../http/fields'

const tokens = z.int().min(1).max(1_000_000_000)

const shape = {
  name: trimmed(200),
  upstream_model: trimmed(256),
  category: z.enum(categories),
  context_length: tokens.nullish(),
  max_input_tokens: tokens
    .nullish()
    .describe('Maximum length of the prompt, if that is shorter than the context.'),
  max_output_tokens: tokens.nullish(),
  dimensions: z.int().min(1).max(100_000).nullish(),
  capabilities: z.partialRecord(z.enum(capabilities), z.boolean()),
  pricing: PricingFields.nullish(),
  cost_pricing: PricingFields.nullish().describe(
    'The price that the provider bills the operator; null for the published one.',
  ),
  is_free: z.boolean(),
  enabled: z.boolean(),
  created_at: timestamp,
  deprecated_at: timestamp.nullish(),
}

/** A new model, or changes that override one of the catalogue. Source: contract 9.2. */
export const NewModel = z
  .object({
    id: z.string().min(3).max(256),
    ...z.object(shape).partial().shape,
    name: shape.name,
    category: shape.category,
  })
  .meta({ ref: 'NewModel' })
export type NewModel = z.output<typeof NewModel>

export const ChangedModel = z.object(shape).partial().meta({ ref: 'ChangedModel' })
export type ChangedModel = z.output<typeof ChangedModel>

/** A price, and the time from which it applies. Source: contract 9.2. */
export const NewPrice = z
  .object({
    pricing: PricingFields,
    effective_at: timestamp.optional(),
  })
  .meta({ ref: 'NewPrice' })
export type NewPrice = z.output<typeof NewPrice>
