import { z } from 'zod'
import { capabilities, categories } from './model'
import { qualityName } from './image-quality'
import { maxPriceUsd } from '../wire/usd'
import { isOneLine } from '../wire/one-line'

const tokens = z.int().positive().max(1_000_000_000)
const kinds = z.enum(['text', 'image', 'audio', 'video', 'embedding', 'moderation', 'rerank'])
const amount = z.number().min(0).max(maxPriceUsd)
const rates = {
  input: amount.exactOptional(),
  output: amount.exactOptional(),
  cached_input: amount.exactOptional(),
  cached_audio_input: amount.exactOptional(),
  cache_write: amount.exactOptional(),
  cache_write_1h: amount.exactOptional(),
  reasoning: amount.exactOptional(),
  audio_input: amount.exactOptional(),
  audio_output: amount.exactOptional(),
  image_input: amount.exactOptional(),
  image_output: amount.exactOptional(),
  input_characters: amount.exactOptional(),
  output_characters: amount.exactOptional(),
  second: amount.exactOptional(),
  audio_hour: amount.exactOptional(),
  image: amount.exactOptional(),
  request: amount.exactOptional(),
  search: amount.exactOptional(),
  made_image: amount.exactOptional(),
  made_megapixel: amount.exactOptional(),
}
const tiers = z
  .array(z.strictObject({ above: tokens, ...rates }))
  .min(1)
  .max(8)
  .exactOptional()
const service = z.strictObject({ ...rates, tiers }).exactOptional()

const day = z.iso.date()

const EntryPrice = z.strictObject({
  ...rates,
  input: amount,
  tiers,
  images: z
    .array(
      z.strictObject({
        ...rates,
        quality: qualityName.exactOptional(),
        above_pixels: tokens.exactOptional(),
      }),
    )
    .min(1)
    .max(16)
    .exactOptional(),
  service_tiers: z
    .strictObject({ flex: service, priority: service, batch: service })
    .exactOptional(),
  hours: z
    .array(
      z.strictObject({
        ...rates,
        from: z.int().min(0).max(1439),
        until: z.int().min(0).max(1440),
        days: z.array(z.int().min(0).max(6)).min(1).max(7).exactOptional(),
        except: z.array(day).min(1).max(100).exactOptional(),
      }),
    )
    .max(4)
    .exactOptional(),
})

/** Text that can be stored and shown. */
const line = z.string().refine((text) => isOneLine(text) && text.isWellFormed(), {
  message: 'must be one line of valid characters, without control characters.',
})

const time = z.int().min(0).max(8_640_000_000_000)

/** One line of `models.json`. */
export const CatalogEntry = z.strictObject({
  id: line.regex(/^[a-z0-9][a-z0-9._-]{0,39}\/.+$/).max(256),
  name: line.min(1).max(200),
  category: z.enum(categories),
  context_length: tokens.exactOptional(),
  max_input_tokens: tokens.exactOptional(),
  max_output_tokens: tokens.exactOptional(),
  input: z.array(kinds).min(1).max(5),
  output: z.array(kinds).min(1).max(5),
  capabilities: z.array(z.enum(capabilities)).max(capabilities.length),
  created: time,
  deprecated: time.exactOptional(),
  dimensions: tokens.exactOptional(),
  price: EntryPrice.exactOptional(),
  price_changes: z
    .array(z.strictObject({ from: day, price: EntryPrice }))
    .min(1)
    .max(20)
    .exactOptional(),
  free: z.literal(true).exactOptional(),
})

/** A file in the format of `models.json`, of this version or a later one. */
export const CatalogDocument = z.object({
  date: day,
  models: z.array(CatalogEntry).min(1).max(20_000),
})
export type CatalogDocument = z.output<typeof CatalogDocument>
