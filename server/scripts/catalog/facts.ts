import type { Category } from '../../src/catalog/model'
import type { Quote } from './price'

/** The facts of one source about one model; an absent field is unknown to it. */
export interface Facts {
  category: Category
  name?: string
  /** Tokens. */
  contextLength?: number
  /** Tokens. */
  maxOutputTokens?: number
  input?: string[]
  output?: string[]
  tools?: boolean
  reasoning?: boolean
  jsonSchema?: boolean
  /** Unix seconds. */
  created?: number
  /** Unix seconds: the provider's shutdown date. */
  deprecated?: number
  /** Whether the provider has shut it down. */
  isRemoved?: boolean
  dimensions?: number
  /** Whether it is served by the Responses API only. */
  responsesOnly?: boolean
  /** Whether it is from the oldest source. */
  isStale?: boolean
  quote?: Quote
}

/** The models of one provider, by the provider's own id. */
export type Listing = Map<string, Facts>

/** The models of a source, by its names of providers. */
export type Listings = Map<string, Listing>

export const positive = (
  name: 'contextLength' | 'maxOutputTokens' | 'created' | 'deprecated' | 'dimensions',
  value: number | null | undefined,
): Partial<Facts> => (value !== undefined && value !== null && value > 0 ? { [name]: value } : {})

/** Converts `2025-08-07` or `2025-08` to Unix seconds; undefined for anything else. */
export function toUnixSeconds(date: string): number | undefined {
  const full = /^\d{4}-\d{2}$/.test(date) ? `${date}-01` : date
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(full) ? Date.parse(`${full}T00:00:00Z`) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms / 1000
}
