import { z } from 'zod'
import { capabilities, categories, type Capability } from '../../../catalog/model'
import { ModelPricingAnswer } from '../../../catalog/pricing-fields'
import { Pagination } from '../../../http/documentation'
import { broken } from '../../../wire/field-error'

const billingModes = ['platform', 'house', 'byok', 'org_pays', 'member_pays', 'free'] as const
export type ShownBillingMode = (typeof billingModes)[number]

const isCapability = (name: string): name is Capability =>
  capabilities.some((capability) => capability === name)

/** One or several names separated by commas; all of them must match. */
const capabilityList = z.string().transform((text, ctx): Capability[] => {
  const names = text.split(',').map((name) => name.trim())
  const known = names.filter(isCapability)
  if (known.length === names.length) return known
  ctx.addIssue(broken('unknown_value', `must be of ${capabilities.join(', ')}.`))
  return z.NEVER
})

const flag = z.enum(['true', 'false']).transform((text) => text === 'true')

/** Filters and sort order of the list of models. Source: contract 6.8. */
export const PublicModelFilters = z.object({
  provider: z.string().max(40).optional(),
  category: z.enum(categories).optional(),
  capability: capabilityList.optional(),
  billing_mode: z.enum(billingModes).optional(),
  free: flag.optional(),
  callable: flag.optional(),
  search: z.string().trim().max(100).optional(),
  sort: z.enum(['id', 'name', 'price', 'context', 'rating']).default('id'),
  prompt_tokens: z.coerce
    .number()
    .pipe(z.int().min(0).max(1_000_000_000))
    .default(0)
    .describe('`sort=price` goes by the prices of prompts of so many tokens'),
})
export type PublicModelFilters = z.output<typeof PublicModelFilters>

export const NewFavorite = z.object({ model_id: z.string().min(1).max(256) })

export const NewRating = z.object({
  rating: z.int().min(1).max(5),
  review: z
    .string()
    .trim()
    .max(2000)
    .optional()
    .transform((text) => text || null),
})
export type NewRating = z.output<typeof NewRating>

export const RatingOrder = z.object({
  sort: z.enum(['newest', 'highest', 'lowest']).default('newest'),
})
export type RatingOrder = z.output<typeof RatingOrder>['sort']

export const ShownModel = z
  .object({
    id: z.string(),
    name: z.string(),
    provider: z.string(),
    description: z.string().nullable(),
    category: z.enum(categories),
    context_length: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    capabilities: z.record(z.enum(capabilities), z.boolean()),
    pricing: ModelPricingAnswer,
    is_free: z.boolean(),
    billing_mode: z
      .enum(billingModes)
      .nullable()
      .describe('How a call of yours would be paid now; null where nobody serves it to you.'),
    is_favorite: z.boolean(),
    rating: z.object({ average: z.number().nullable(), count: z.int() }),
    deprecated_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'CatalogueModel' })
export type ShownModel = z.output<typeof ShownModel>

export const ModelPage = z
  .object({ models: z.array(ShownModel), pagination: Pagination })
  .meta({ ref: 'CatalogueModelList' })

export const Favorite = z
  .object({
    model_id: z.string(),
    model: ShownModel.nullable().describe(
      'Null for a collection, and for what is no longer there.',
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
