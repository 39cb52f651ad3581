import { z } from 'zod'
import { categories, capabilities } from '../../../catalog/model'
import { PricingAnswer } from '../../../catalog/pricing-fields'
import { Pagination } from '../../../http/paging'

const time = z.iso.datetime()

/** A model of the catalogue, as operators see it. */
export const AnsweredModel = z
  .object({
    id: z.string(),
    name: z.string(),
    provider: z.string(),
    upstream_model: z.string().describe('Name of the model at the provider.'),
    category: z.enum(categories),
    context_length: z.int().nullable(),
    max_input_tokens: z
      .int()
      .nullable()
      .describe('Maximum length of the prompt, if that is shorter than the context.'),
    max_output_tokens: z.int().nullable(),
    dimensions: z.int().nullable(),
    capabilities: z.record(z.enum(capabilities), z.boolean()),
    pricing: PricingAnswer.nullable(),
    cost_pricing: PricingAnswer.nullable().describe(
      'The price that the provider bills the operator; null where it is unknown.',
    ),
    cost_source: z
      .enum(['operator', 'published'])
      .nullable()
      .describe('Whether an operator set `cost_pricing`, or the provider publishes it.'),
    is_free: z.boolean(),
    enabled: z.boolean(),
    simulated: z.boolean(),
    deprecated_at: time.nullable(),
    created_at: time,
  })
  .meta({ ref: 'OperatedModel' })

export const AnsweredModelList = z
  .object({ models: z.array(AnsweredModel), pagination: Pagination })
  .meta({ ref: 'OperatedModelList' })

/** The price history of a model, latest first. */
export const PriceHistory = z
  .object({
    prices: z.array(z.object({ pricing: PricingAnswer.nullable(), effective_at: time })),
  })
  .meta({ ref: 'PriceHistory' })
