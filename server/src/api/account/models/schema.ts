import { z } from 'zod'
import { capabilities, categories, type Capability } from '../../../catalog/model'
import { ModelPricingAnswer } from '../../../catalog/pricing-fields'
import { pageFields, Pagination } from '../../../http/paging'
import { payerFields } from '../../../http/payer'
import { flag } from '../../../http/query'
import { customIssue } from '../../../wire/field-error'

const billingModes = ['platform', 'house', 'byok', 'org_pays', 'member_pays', 'free'] as const
export type ModelBillingMode = (typeof billingModes)[number]

const isCapability = (name: string): name is Capability =>
  capabilities.some((capability) => capability === name)

const capabilityNames = String.raw`\s*(?:${capabilities.join('|')})\s*`
const capabilityPattern = `^${capabilityNames}(?:,${capabilityNames})*$`

/** One or several names separated by commas; all of them must match. */
const capabilityList = z
  .string()
  .meta({ pattern: capabilityPattern })
  .transform((text, ctx): Capability[] => {
    const names = text.split(',').map((name) => name.trim())
    const accepted = names.filter(isCapability)
    if (accepted.length === names.length) return accepted
    ctx.addIssue(customIssue('unknown_value', `must be one of ${capabilities.join(', ')}.`))
    return z.NEVER
  })

/** Filters, order and page of the list of models. Source: contract 6.8. */
export const PublicModelFilters = z.object({
  provider: z.string().max(40).optional().describe('Only models of this provider'),
  category: z.enum(categories).optional().describe('Only models of this category'),
  capability: capabilityList
    .optional()
    .describe(`Only models with all of these, separated by commas: ${capabilities.join(', ')}`),
  billing_mode: z
    .enum(billingModes)
    .optional()
    .describe('Only models whose requests would be paid this way'),
  free: flag.optional().describe('Only free models, or only priced ones'),
  callable: flag.optional().describe('Only models that you can call now, or only others'),
  min_context: z.coerce
    .number()
    .pipe(z.int().min(0).max(1_000_000_000))
    .optional()
    .describe('Only models whose context has at least this many tokens'),
  max_price: z.coerce
    .number()
    .pipe(z.number().min(0).max(1_000_000_000))
    .optional()
    .describe('Only models whose price, as `sort=price` compares it, is at most this many USD'),
  search: z.string().trim().max(100).optional().describe('Text in the id or the name'),
  sort: z
    .enum(['id', 'name', 'price', 'context', 'rating', 'latency', 'uptime'])
    .default('id')
    .describe('The order of the list'),
  prompt_tokens: z.coerce
    .number()
    .pipe(z.int().min(0).max(1_000_000_000))
    .default(0)
    .describe(
      'Length of the prompts for which `sort=price` compares the price of input and output together',
    ),
  ...pageFields,
})
export type PublicModelFilters = Omit<z.output<typeof PublicModelFilters>, keyof typeof pageFields>

export const NewFavorite = z
  .object({ model_id: z.string().min(1).max(256) })
  .meta({ ref: 'NewFavorite' })

export const NewRating = z
  .object({
    rating: z.int().min(1).max(5),
    review: z
      .string()
      .trim()
      .max(2000)
      .optional()
      .transform((text) => text || null),
  })
  .meta({ ref: 'NewRating' })
export type NewRating = z.output<typeof NewRating>

/** The query of a list of ratings. */
export const RatingFilter = z.object({
  sort: z.enum(['newest', 'highest', 'lowest']).default('newest').describe('The order of the list'),
  ...pageFields,
})
export type RatingOrder = z.output<typeof RatingFilter>['sort']

export const RatingPage = z.object(pageFields)

export const CatalogueModel = z
  .object({
    id: z.string(),
    name: z.string(),
    provider: z.string(),
    description: z.string().nullable(),
    category: z.enum(categories),
    context_length: z.int().nullable().describe('Tokens of prompt and answer together.'),
    max_input_tokens: z
      .int()
      .nullable()
      .describe('Maximum length of the prompt, if that is shorter than the context.'),
    max_output_tokens: z.int().nullable(),
    capabilities: z.record(z.enum(capabilities), z.boolean()),
    pricing: ModelPricingAnswer,
    is_free: z.boolean(),
    billing_mode: z
      .enum(billingModes)
      .nullable()
      .describe('Payer of your next request; null if no connection serves the model to you.'),
    ...payerFields,
    unavailable: z
      .object({
        reason: z.enum([
          'no_price',
          'no_connection',
          'platform_connections_off',
          'mapped_to_nothing',
          'retired',
        ]),
        message: z.string(),
      })
      .nullable()
      .describe(
        'The reason why you cannot call the model now, or why its provider may reject it; null if you can.',
      ),
    performance: z
      .object({
        latency_ms: z.int().nullable().describe('The median of successful requests'),
        first_token_ms: z.int().nullable().describe('The median of successful streams'),
        tokens_per_second: z
          .number()
          .nullable()
          .describe('Output of successful requests by the time that they took'),
        uptime_percent: z
          .number()
          .describe("Requests that did not fail by the provider's fault: 502, 503 and 504"),
      })
      .nullable()
      .describe(
        'Measured on this installation in the newest 100,000 requests to providers of the last 24 hours, up to a minute old; null with fewer than 10 of this model.',
      ),
    is_favorite: z.boolean(),
    rating: z.object({ average: z.number().nullable(), count: z.int() }),
    deprecated_at: z.iso
      .datetime()
      .nullable()
      .describe(
        'The day on which the provider switches the model off, as far as it is announced. From then on lists of callable models leave it out; calls still go to the provider.',
      ),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'CatalogueModel' })
export type CatalogueModel = z.output<typeof CatalogueModel>

export const ModelPage = z
  .object({ models: z.array(CatalogueModel), pagination: Pagination })
  .meta({ ref: 'CatalogueModelList' })

export const Favorite = z
  .object({
    model_id: z.string(),
    model: CatalogueModel.nullable().describe(
      'Null for a collection, and for a model that no longer exists.',
    ),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'Favorite' })

export const FavoriteList = z.object({ favorites: z.array(Favorite) }).meta({ ref: 'FavoriteList' })

export const Rating = z
  .object({
    id: z.string(),
    model_id: z.string(),
    user_id: z.string(),
    user_name: z.string(),
    rating: z.int(),
    review: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Rating' })

const count = z.int()

export const ModelRatings = z
  .object({
    model_id: z.string(),
    summary: z.object({
      average: z.number().nullable(),
      count,
      distribution: z.object({ '1': count, '2': count, '3': count, '4': count, '5': count }),
    }),
    my_rating: Rating.nullable(),
    ratings: z.array(Rating),
    pagination: Pagination,
  })
  .meta({ ref: 'ModelRatings' })

export const RatingList = z
  .object({ ratings: z.array(Rating), pagination: Pagination })
  .meta({ ref: 'RatingList' })
