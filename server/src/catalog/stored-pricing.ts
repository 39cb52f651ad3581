import { z } from 'zod'
import { serviceTiers, type Pricing } from './model'
import { qualityName } from './image-quality'
import { maxTiers } from './price-tiers'
import { storedUsd } from '../wire/usd'

const rate = storedUsd.exactOptional()

const seldomRates = {
  cachedInput: rate,
  cachedAudioInput: rate,
  cacheWrite: rate,
  cacheWriteLong: rate,
  reasoning: rate,
  audioInput: rate,
  audioOutput: rate,
  imageInput: rate,
  imageOutput: rate,
  inputCharacters: rate,
  outputCharacters: rate,
  second: rate,
  audioHour: rate,
  image: rate,
  request: rate,
  search: rate,
  madeImage: rate,
  madeMegapixel: rate,
}

const minute = z.int().min(0).max(1439)

const StoredTier = z.object({
  above: z.int().min(1).exactOptional(),
  serviceTier: z.enum(serviceTiers).exactOptional(),
  hours: z.object({ from: minute, until: minute }).exactOptional(),
  quality: qualityName.exactOptional(),
  abovePixels: z.int().min(0).exactOptional(),
  rates: z.object({ input: rate, output: rate, ...seldomRates }),
})

const StoredPricing = z.object({
  input: storedUsd,
  output: storedUsd,
  ...seldomRates,
  tiers: z.array(StoredTier).max(maxTiers).exactOptional(),
})

/** Converts a price to its column: nano-dollars as text, since JSON numbers are not exact. */
export const toStoredPricing = (pricing: Pricing) =>
  JSON.stringify(pricing, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** Reads the price from such a column. Throws where it is damaged. */
export const readPricing = (column: unknown): Pricing | null =>
  column === null ? null : StoredPricing.parse(column)
