import type { Schemas } from '../../api/client'
import { exactUsd } from '../../format/money'
import type { Pricing } from '../operator/models/queries'

/** The rates of a price with their labels: USD per 1,000,000 tokens or characters, per second, or per piece. */
export const priceParts = [
  ['input', 'Input, 1M tokens'],
  ['output', 'Output, 1M tokens'],
  ['cached_input', 'Cached input, 1M tokens'],
  ['cached_audio_input', 'Cached audio input, 1M tokens'],
  ['cache_write', 'Cache write (5 min), 1M tokens'],
  ['cache_write_1h', 'Cache write (1 h), 1M tokens'],
  ['reasoning', 'Reasoning, 1M tokens'],
  ['audio_input', 'Audio input, 1M tokens'],
  ['audio_output', 'Audio output, 1M tokens'],
  ['image_input', 'Image input, 1M tokens'],
  ['image_output', 'Image output, 1M tokens'],
  ['input_characters', 'Input, 1M characters'],
  ['output_characters', 'Output, 1M characters'],
  ['second', 'One second'],
  ['audio_hour', 'Audio input, one hour'],
  ['image', 'One image'],
  ['request', 'One request'],
  ['search', 'One web search'],
  ['made_image', 'One image of the answer'],
  ['made_megapixel', '1M pixels of the answer'],
] as const

/** The rates in a form, in groups. */
export const priceGroups: readonly (readonly [string, readonly PricePart[]])[] = [
  ['Text', ['input', 'output', 'reasoning']],
  ['Cache', ['cached_input', 'cached_audio_input', 'cache_write', 'cache_write_1h']],
  ['Audio and images', ['audio_input', 'audio_output', 'image_input', 'image_output']],
  ['Characters', ['input_characters', 'output_characters']],
  ['By time', ['second', 'audio_hour']],
  ['By the piece', ['image', 'request', 'search']],
  ['Images of the answer', ['made_image', 'made_megapixel']],
]

export type PricePart = (typeof priceParts)[number][0]

/** Rates in a form: a number, or an empty text for no rate. */
export type RateFields = Record<PricePart, number | string>

/** A price tier in a form; an empty text for a condition that is not set. */
export interface TierFields {
  above: number | string
  service_tier: NonNullable<Tier['service_tier']> | ''
  from: string
  until: string
  quality: string
  above_pixels: number | string
  rates: RateFields
}

/** A price in a form. */
export interface PriceFields {
  rates: RateFields
  tiers: TierFields[]
}

type Tier = Pricing['tiers'][number]
type Rates = Record<PricePart, number | null>

/** A form without any rate. */
const emptyRates: RateFields = {
  input: '',
  output: '',
  cached_input: '',
  cached_audio_input: '',
  cache_write: '',
  cache_write_1h: '',
  reasoning: '',
  audio_input: '',
  audio_output: '',
  image_input: '',
  image_output: '',
  input_characters: '',
  output_characters: '',
  second: '',
  audio_hour: '',
  image: '',
  request: '',
  search: '',
  made_image: '',
  made_megapixel: '',
}

function toRateFields(rates: Rates): RateFields {
  const fields: RateFields = { ...emptyRates }
  for (const [part] of priceParts) fields[part] = rates[part] ?? ''
  return fields
}

const toTierFields = (tier: Tier): TierFields => ({
  above: tier.above ?? '',
  service_tier: tier.service_tier ?? '',
  from: tier.from ?? '',
  until: tier.until ?? '',
  quality: tier.quality ?? '',
  above_pixels: tier.above_pixels ?? '',
  rates: toRateFields(tier),
})

export const newTier: TierFields = {
  above: '',
  service_tier: '',
  from: '',
  until: '',
  quality: '',
  above_pixels: '',
  rates: emptyRates,
}

export const priceFieldsOf = (pricing: Pricing | null): PriceFields => ({
  rates: pricing ? toRateFields(pricing) : emptyRates,
  tiers: (pricing?.tiers ?? []).map(toTierFields),
})

/** Returns the rates that have a value. */
const enteredRates = (fields: RateFields) =>
  Object.fromEntries(
    priceParts.flatMap(([part]) => (fields[part] === '' ? [] : [[part, Number(fields[part])]])),
  )

const toTier = ({ above, service_tier: tier, from, until, rates, ...images }: TierFields) => ({
  ...(above !== '' && { above: Number(above) }),
  ...(tier !== '' && { service_tier: tier }),
  ...(from !== '' && { from }),
  ...(until !== '' && { until }),
  ...(images.quality !== '' && { quality: images.quality }),
  ...(images.above_pixels !== '' && { above_pixels: Number(images.above_pixels) }),
  ...enteredRates(rates),
})

/** Returns the price as the API takes it; null where no rate has a value. */
export function toPricing({ rates, tiers }: PriceFields): Schemas['NewPrice']['pricing'] | null {
  const set = enteredRates(rates)
  if (Object.keys(set).length === 0) return null
  return { input: 0, output: 0, ...set, ...(tiers.length > 0 && { tiers: tiers.map(toTier) }) }
}

/** Returns the rates that are set in words: `Input, 1M tokens: $1 · One image: $0.01`. */
export const rateLabels = (rates: Rates): string =>
  priceParts
    .filter(([part]) => rates[part] !== null)
    .map(([part, label]) => `${label}: ${exactUsd(rates[part])}`)
    .join(' · ')

/** Returns the conditions of a tier in words: `above 272,000 tokens`, `priority`, `16:30 to 00:30 UTC`, `hd`. */
export function conditionsOf({
  above,
  service_tier: tier,
  from,
  until,
  quality,
  above_pixels: pixels,
}: Pick<Tier, 'above' | 'service_tier' | 'from' | 'until' | 'quality' | 'above_pixels'>): string {
  const conditions = [
    ...(tier === null ? [] : [tier]),
    ...(above === null ? [] : [`above ${above.toLocaleString('en-US')} tokens`]),
    ...(from === null ? [] : [`${from} to ${until ?? ''} UTC`]),
    ...(quality === null ? [] : [quality]),
    ...(pixels === null ? [] : [`above ${pixels.toLocaleString('en-US')} pixels`]),
  ]
  return conditions.join(', ')
}
