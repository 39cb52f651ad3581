/**
 * Prices as `models.json` has them: USD per 1,000,000 tokens, per hour of sound; `second`, `image`, `request`, `search`, `made_image` and
 * `made_megapixel` per piece.
 */
export interface EntryRates {
  input?: number
  output?: number
  cached_input?: number
  /** Sound read from a cache. */
  cached_audio_input?: number
  cache_write?: number
  /** A cache entry with a lifetime of an hour or more. */
  cache_write_1h?: number
  reasoning?: number
  audio_input?: number
  audio_output?: number
  image_input?: number
  image_output?: number
  /** Per 1,000,000 characters. */
  input_characters?: number
  output_characters?: number
  second?: number
  /** Per hour of sound in the prompt: prices by the minute would not be exact by the second. */
  audio_hour?: number
  image?: number
  request?: number
  search?: number
  made_image?: number
  made_megapixel?: number
}

/** Rates of prompts of more than `above` tokens; rates left out are those below it. */
interface EntryTier extends EntryRates {
  above: number
}

interface EntryHours extends EntryRates {
  /** Minutes of the day of UTC, `from` included, `until` not. */
  from: number
  until: number
  /** Days of the week of UTC, Sunday 0; every day where absent. */
  days?: readonly number[]
  /** Days of UTC on which they do not hold, `2027-01-01`. */
  except?: readonly string[]
}

/** Rates of answers whose images are of a quality, or have more pixels than so many. */
interface EntryImages extends EntryRates {
  quality?: string
  above_pixels?: number
}

export interface EntryPrice extends EntryRates {
  tiers?: readonly EntryTier[]
  /** Of two that hold, the later one's rates apply. */
  images?: readonly EntryImages[]
  service_tiers?: Partial<
    Record<'flex' | 'priority' | 'batch', EntryRates & { tiers?: readonly EntryTier[] }>
  >
  /** Hours at which other rates hold. */
  hours?: readonly EntryHours[]
}

/** Prices from a day of UTC on, `2027-01-01`. */
export interface PriceChange {
  from: string
  price: EntryPrice
}
