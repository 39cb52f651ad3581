import type { EntryPrice, PriceChange } from './entry-price'
import type { Capability, Category } from './model'

/** `models.json`, written by `scripts/generate-catalog.ts`. */
export interface CatalogFile {
  /** The day it was made for. */
  date: string
  /** The packages that it was generated from. */
  sources: readonly { name: string; version: string; published: string; license: string }[]
  /** Names that providers have retired -> the model that replaces it. */
  aliases: Readonly<Record<string, string>>
  /** The models, sorted by id. */
  models: readonly CatalogEntryRow[]
}

/** One line of `models.json`; unknown fields are left out. Lengths are tokens, dates Unix seconds. */
export interface CatalogEntryRow {
  id: string
  name: string
  category: Category
  context_length?: number | undefined
  /** The longest prompt, where that is shorter than the context. */
  max_input_tokens?: number | undefined
  max_output_tokens?: number | undefined
  /** Some of `text`, `image`, `audio`, `video`. */
  input: readonly string[]
  output: readonly string[]
  /** Without those that follow from the modalities and the category. */
  capabilities: readonly Capability[]
  created: number
  /** The time at which the provider will switch it off. */
  deprecated?: number | undefined
  dimensions?: number | undefined
  /** Absent where no source has it: the operator's policy applies to such a model. */
  price?: EntryPrice | undefined
  /** Announced prices, the earliest first. */
  price_changes?: readonly PriceChange[] | undefined
  /** Set where the provider charges nothing for it. */
  free?: true | undefined
}
