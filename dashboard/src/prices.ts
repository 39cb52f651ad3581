import type { Pricing } from './operator/models'

/** The rates of a price: USD per 1,000,000 tokens, or per piece. */
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
  ['image', 'One image'],
  ['request', 'One request'],
  ['search', 'One web search'],
] as const

export type PricePart = (typeof priceParts)[number][0]

/** Rates in a form: each a number, or an empty text. */
export type RateFields = Record<PricePart, number | string>

/** A tier in a form; a condition that is not set is an empty text. */
export interface TierFields {
  above: number | string
  service_tier: string
  from: string
  until: string
  rates: RateFields
}

/** A price in a form. */
export interface PriceFields {
  rates: RateFields
  tiers: TierFields[]
}

type Tier = Pricing['tiers'][number]
type Rates = Record<PricePart, number | null>

const noRates: Rates = {
  input: null,
  output: null,
  cached_input: null,
  cached_audio_input: null,
  cache_write: null,
  cache_write_1h: null,
  reasoning: null,
  audio_input: null,
  audio_output: null,
  image_input: null,
  image_output: null,
  image: null,
  request: null,
  search: null,
}

function toRateFields(rates: Rates): RateFields {
  const fields: RateFields = { ...noEntries }
  for (const [part] of priceParts) fields[part] = rates[part] ?? ''
  return fields
}

const noEntries: RateFields = {
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
  image: '',
  request: '',
  search: '',
}

const toTierFields = (tier: Tier): TierFields => ({
  above: tier.above ?? '',
  service_tier: tier.service_tier ?? '',
  from: tier.from ?? '',
  until: tier.until ?? '',
  rates: toRateFields(tier),
})

export const newTier: TierFields = {
  above: '',
  service_tier: '',
  from: '',
  until: '',
  rates: noEntries,
}

export const priceFieldsOf = (pricing: Pricing | null): PriceFields => ({
  rates: toRateFields(pricing ?? noRates),
  tiers: (pricing?.tiers ?? []).map(toTierFields),
})

/** What is filled in. */
const setRates = (fields: RateFields) =>
  Object.fromEntries(
    priceParts.flatMap(([part]) => (fields[part] === '' ? [] : [[part, Number(fields[part])]])),
  )

const toTier = ({ above, service_tier: tier, from, until, rates }: TierFields): object => ({
  ...(above !== '' && { above: Number(above) }),
  ...(tier !== '' && { service_tier: tier }),
  ...(from !== '' && { from }),
  ...(until !== '' && { until }),
  ...setRates(rates),
})

/** A price as the service takes it; null where nothing is filled in. */
export function toPricing({ rates, tiers }: PriceFields): object | null {
  const set = setRates(rates)
  if (Object.keys(set).length === 0) return null
  return { input: 0, output: 0, ...set, ...(tiers.length > 0 && { tiers: tiers.map(toTier) }) }
}

/** When a tier holds, in words: `above 272,000 tokens`, `priority`, `16:30 to 00:30 UTC`. */
export function conditionsOf({
  above,
  service_tier: tier,
  from,
  until,
}: Pick<Tier, 'above' | 'service_tier' | 'from' | 'until'>): string {
  const words = [
    ...(tier === null ? [] : [tier]),
    ...(above === null ? [] : [`above ${above.toLocaleString('en-US')} tokens`]),
    ...(from === null ? [] : [`${from} to ${until ?? ''} UTC`]),
  ]
  return words.join(', ')
}
