import { z } from 'zod'
import { qualityName } from './image-quality'
import { serviceTiers, type PriceTier, type Pricing, type Rates } from './model'
import { maxTiers, formatTimeOfDay } from './price-tiers'
import { customIssue } from '../wire/field-error'
import { maxPriceUsd, toUsd, usd } from '../wire/usd'

/** Each rate, and its name in bodies and answers. */
export const rateFields = {
  input: 'input',
  output: 'output',
  cachedInput: 'cached_input',
  cachedAudioInput: 'cached_audio_input',
  cacheWrite: 'cache_write',
  cacheWriteLong: 'cache_write_1h',
  reasoning: 'reasoning',
  audioInput: 'audio_input',
  audioOutput: 'audio_output',
  imageInput: 'image_input',
  imageOutput: 'image_output',
  inputCharacters: 'input_characters',
  outputCharacters: 'output_characters',
  second: 'second',
  audioHour: 'audio_hour',
  image: 'image',
  request: 'request',
  search: 'search',
  madeImage: 'made_image',
  madeMegapixel: 'made_megapixel',
} as const satisfies Record<keyof Rates, string>

const rateNames = Object.entries(rateFields)

const price = usd(9, 0, maxPriceUsd)
const optionalPrice = price.nullish()

const optionalRates = {
  cached_input: optionalPrice,
  cached_audio_input: optionalPrice,
  cache_write: optionalPrice,
  cache_write_1h: optionalPrice,
  reasoning: optionalPrice,
  audio_input: optionalPrice,
  audio_output: optionalPrice,
  image_input: optionalPrice,
  image_output: optionalPrice,
  input_characters: optionalPrice,
  output_characters: optionalPrice,
  second: optionalPrice,
  audio_hour: optionalPrice,
  image: optionalPrice,
  request: optionalPrice,
  search: optionalPrice,
  made_image: optionalPrice,
  made_megapixel: optionalPrice,
}

const isSet = <Value>(value: Value | null | undefined): value is Value =>
  value !== undefined && value !== null

/** Parses `HH:MM` as a minute of the day. */
const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of the UTC day such as 16:30.')
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)))

/** Rates that replace the ordinary ones where all of the tier's conditions hold. */
const TierFields = z
  .object({
    above: z.int().min(1).max(1_000_000_000).nullish(),
    service_tier: z.enum(serviceTiers).nullish(),
    from: time.nullish(),
    until: time.nullish(),
    quality: qualityName.nullish(),
    above_pixels: z.int().min(0).max(1_000_000_000).nullish(),
    input: optionalPrice,
    output: optionalPrice,
    ...optionalRates,
  })
  .superRefine((tier, ctx) => {
    const [from, until] = [tier.from ?? undefined, tier.until ?? undefined]
    if ((from === undefined) !== (until === undefined)) {
      const missingField = from === undefined ? 'from' : 'until'
      ctx.addIssue(customIssue('required', 'is required together with the other.', [missingField]))
    }
    if (from !== undefined && from === until) {
      ctx.addIssue(customIssue('out_of_range', 'must not be the same as from.', ['until']))
    }
    const ofImages = isSet(tier.quality) || isSet(tier.above_pixels)
    const isConditional = ofImages || isSet(tier.above) || isSet(tier.service_tier) || isSet(from)
    if (!isConditional) {
      ctx.addIssue(
        customIssue(
          'required',
          'or service_tier, quality, above_pixels, or from and until, is required.',
          ['above'],
        ),
      )
    }
  })
type TierFields = z.output<typeof TierFields>

/**
 * USD per 1,000,000 tokens or characters, or per hour of sound; `second`, `image`, `request`, `search`, `made_image` and
 * `made_megapixel` per piece. Each up to `maxPriceUsd`.
 */
export const PricingFields = z.object({
  input: price,
  output: price,
  ...optionalRates,
  tiers: z
    .array(TierFields)
    .max(maxTiers)
    .nullish()
    .describe('If two tiers apply, the rates of the later one count.'),
})
export type PricingFields = z.output<typeof PricingFields>

const publicFields = z.number().nullable()

/** The rates except the first two, which every price has. */
export const publicRates = {
  cached_input: publicFields,
  cached_audio_input: publicFields.describe('Sound read from a cache.'),
  cache_write: publicFields.describe('For 5 minutes, or the default lifetime of the provider.'),
  cache_write_1h: publicFields,
  reasoning: publicFields,
  audio_input: publicFields,
  audio_output: publicFields,
  image_input: publicFields,
  image_output: publicFields,
  input_characters: publicFields.describe(
    'Per 1,000,000 Unicode characters of the prompt’s texts.',
  ),
  output_characters: publicFields.describe('Per 1,000,000 Unicode characters of the answer.'),
  second: publicFields.describe(
    'Per second of processing, to the millisecond: as the provider reports it, else as Tollgate measured it.',
  ),
  audio_hour: publicFields.describe('Per hour of sound in the prompt, to the millisecond.'),
  image: publicFields.describe('Per image in the prompt.'),
  request: publicFields,
  search: publicFields.describe('Per web search by the provider.'),
  made_image: publicFields.describe('Per image of the answer.'),
  made_megapixel: publicFields.describe('Per 1,000,000 pixels of the images of the answer.'),
}

const TierAnswer = z.object({
  above: z.int().nullable().describe('For prompts of more tokens than this, cached ones included.'),
  service_tier: z.enum(serviceTiers).nullable(),
  from: z.string().nullable().describe('`HH:MM`, UTC.'),
  until: z.string().nullable(),
  quality: z.string().nullable().describe('For images of this quality.'),
  above_pixels: z.int().nullable().describe('For images of more pixels than this.'),
  input: publicFields,
  output: publicFields,
  ...publicRates,
})

const inUsd =
  'USD per 1,000,000 tokens or characters; `audio_hour` per hour; `second`, `image`, `request`, `search`, `made_image` and `made_megapixel` per piece.'
const tiers = z
  .array(TierAnswer)
  .describe('Rates in place of those above; null for those that stay. The later of two counts.')

/** A price in an answer; null for rates without a price of their own. */
export const PricingAnswer = z
  .object({
    input: z.number(),
    output: z.number(),
    ...publicRates,
    tiers,
    currency: z.literal('USD'),
  })
  .describe(inUsd)

/** The price of a model that may have none. */
export const ModelPricingAnswer = PricingAnswer.extend({
  input: publicFields.describe('Null where no price is known.'),
  output: publicFields,
}).describe(inUsd)

export const usdOf = (nanos: bigint | undefined) => (nanos === undefined ? null : toUsd(nanos))

export const toRatesAnswer = (rates: Partial<Rates>) => ({
  cached_input: usdOf(rates.cachedInput),
  cached_audio_input: usdOf(rates.cachedAudioInput),
  cache_write: usdOf(rates.cacheWrite),
  cache_write_1h: usdOf(rates.cacheWriteLong),
  reasoning: usdOf(rates.reasoning),
  audio_input: usdOf(rates.audioInput),
  audio_output: usdOf(rates.audioOutput),
  image_input: usdOf(rates.imageInput),
  image_output: usdOf(rates.imageOutput),
  input_characters: usdOf(rates.inputCharacters),
  output_characters: usdOf(rates.outputCharacters),
  second: usdOf(rates.second),
  audio_hour: usdOf(rates.audioHour),
  image: usdOf(rates.image),
  request: usdOf(rates.request),
  search: usdOf(rates.search),
  made_image: usdOf(rates.madeImage),
  made_megapixel: usdOf(rates.madeMegapixel),
})

const toTierAnswer = ({ rates, ...conditions }: PriceTier) => ({
  ...toConditionsAnswer(conditions),
  input: usdOf(rates.input),
  output: usdOf(rates.output),
  ...toRatesAnswer(rates),
})

const toConditionsAnswer = ({
  above,
  serviceTier,
  hours,
  ...images
}: Omit<PriceTier, 'rates'>) => ({
  above: above ?? null,
  service_tier: serviceTier ?? null,
  from: hours ? formatTimeOfDay(hours.from) : null,
  until: hours ? formatTimeOfDay(hours.until) : null,
  quality: images.quality ?? null,
  above_pixels: images.abovePixels ?? null,
})

/** Converts a price to its answer, in USD. */
export const toPricingAnswer = (pricing: Pricing) => ({
  input: toUsd(pricing.input),
  output: toUsd(pricing.output),
  ...toRatesAnswer(pricing),
  tiers: (pricing.tiers ?? []).map(toTierAnswer),
  currency: 'USD' as const,
})

/** Builds the answer for a model without a price: `each` for prompt and answer, null for all other rates. */
export const toUnpricedAnswer = (each: number | null) => ({
  input: each,
  output: each,
  ...toRatesAnswer({}),
  tiers: [],
  currency: 'USD' as const,
})

type RateFields = Partial<Record<(typeof rateFields)[keyof Rates], bigint | null | undefined>>

/** Converts the given fields to rates. */
function toRates(fields: RateFields): Partial<Rates> {
  const entries = rateNames.flatMap(([rate, field]) => {
    const nanos = fields[field]
    return nanos === undefined || nanos === null ? [] : [[rate, nanos] as const]
  })
  return Object.fromEntries(entries)
}

const toTier = ({ above, service_tier: tier, from, until, ...fields }: TierFields): PriceTier => ({
  ...(isSet(above) && { above }),
  ...(isSet(tier) && { serviceTier: tier }),
  ...(isSet(from) && isSet(until) && { hours: { from, until } }),
  ...(isSet(fields.quality) && { quality: fields.quality }),
  ...(isSet(fields.above_pixels) && { abovePixels: fields.above_pixels }),
  rates: toRates(fields),
})

/** Converts a price from a request. */
export function toPricing({ input, output, tiers: tierFields, ...fields }: PricingFields): Pricing {
  const rates = { input, output, ...toRates(fields) }
  return tierFields && tierFields.length > 0 ? { ...rates, tiers: tierFields.map(toTier) } : rates
}
