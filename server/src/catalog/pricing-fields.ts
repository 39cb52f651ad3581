import { z } from 'zod'
import type { Pricing } from './model'
import { toUsd, usd } from '../wire/usd'

/** The highest price, in USD: a dollar a token. Beyond it no request of any size has a cost that fits. */
export const maxPriceUsd = 1_000_000

const price = usd(9, 0, maxPriceUsd)

/** USD per 1,000,000 tokens; `image` and `request` per piece. Each up to `maxPriceUsd`. */
export const PricingFields = z.object({
  input: price,
  output: price,
  cached_input: price.nullish(),
  cache_write: price.nullish(),
  reasoning: price.nullish(),
  audio_input: price.nullish(),
  audio_output: price.nullish(),
  image: price.nullish(),
  request: price.nullish(),
})
export type PricingFields = z.output<typeof PricingFields>

const shown = z.number().nullable()

/** The same in an answer; null for what has no price of its own. */
export const PricingAnswer = z
  .object({
    input: z.number(),
    output: z.number(),
    cached_input: shown,
    cache_write: shown,
    reasoning: shown,
    audio_input: shown,
    audio_output: shown,
    image: shown,
    request: shown,
    currency: z.literal('USD'),
  })
  .describe('USD per 1,000,000 tokens; `image` and `request` per piece.')

const optionalUsd = (nanos: bigint | undefined) => (nanos === undefined ? null : toUsd(nanos))

/** A price as it is answered, in USD. */
export const toPricingAnswer = (pricing: Pricing) => ({
  input: toUsd(pricing.input),
  output: toUsd(pricing.output),
  cached_input: optionalUsd(pricing.cachedInput),
  cache_write: optionalUsd(pricing.cacheWrite),
  reasoning: optionalUsd(pricing.reasoning),
  audio_input: optionalUsd(pricing.audioInput),
  audio_output: optionalUsd(pricing.audioOutput),
  image: optionalUsd(pricing.image),
  request: optionalUsd(pricing.request),
  currency: 'USD' as const,
})

/** A price as it was sent. */
export function toPricing(fields: PricingFields): Pricing {
  const { input, output, image, request, reasoning } = fields
  const buckets = {
    cachedInput: fields.cached_input,
    cacheWrite: fields.cache_write,
    audioInput: fields.audio_input,
    audioOutput: fields.audio_output,
    reasoning,
    image,
    request,
  }
  const set = Object.entries(buckets).filter(([, price]) => price !== undefined && price !== null)
  return { input, output, ...Object.fromEntries(set) }
}
