import { z } from 'zod'
import type { Pricing } from './model'
import { storedUsd } from '../wire/usd'

const Bucket = storedUsd.exactOptional()

const StoredPricing = z.object({
  input: storedUsd,
  output: storedUsd,
  cachedInput: Bucket,
  cacheWrite: Bucket,
  reasoning: Bucket,
  audioInput: Bucket,
  audioOutput: Bucket,
  image: Bucket,
  request: Bucket,
})

/** A price as its column: nano-dollars as text, since JSON numbers are not exact. */
export const toStoredPricing = (pricing: Pricing) =>
  JSON.stringify(pricing, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )

/** The price in such a column. Throws where it is damaged. */
export const readPricing = (column: unknown): Pricing | null =>
  column === null ? null : StoredPricing.parse(column)
