import overlay from './overlay.json' with { type: 'json' }
import type { EntryPrice, EntryRates } from '../../src/catalog/entry-price'
import type { CatalogEntryRow } from '../../src/catalog/catalog-file'

/** A correction of the sources, with its date and reference. */
export interface Correction {
  date: string
  source: string
  why: string
  /** Ids; a final `*` matches any suffix. */
  models: readonly string[]
  /** The whole price, replacing any other. */
  price?: EntryPrice
  /** Rates that replace those of the sources; null removes one. */
  rates?: Partial<Record<keyof EntryRates, number | null>>
  /** Price tiers by length that replace those of the sources; an empty list for none. */
  tiers?: NonNullable<EntryPrice['tiers']>
  /** Corrections of service tiers; null for one that the provider does not have. */
  service_tiers?: Record<string, NonNullable<EntryPrice['service_tiers']>['flex'] | null>
  /** Bounds of price tiers by length -> their exact values. */
  bounds?: Record<number, number>
  /** Days of UTC without peak hours, besides weekdays off. */
  off_peak_days?: readonly string[]
  /** Free of charge. */
  free?: boolean
  /** Listed without a price. */
  unpriced?: boolean
  /** Not listed. */
  left_out?: boolean
  /** Listed though a source marks it as withdrawn. */
  kept?: boolean
  /** The source whose price is used, where the others are wrong. */
  prefer?: string
  /** Fields of the entry, which is added where no source has it. */
  entry?: Partial<Omit<CatalogEntryRow, 'id'>>
}

interface Alias {
  date: string
  source: string
  alias: string
  model: string
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a committed file; a test reads each part
export const { corrections, aliases } = overlay as unknown as {
  corrections: readonly Correction[]
  aliases: readonly Alias[]
}

const applies = (pattern: string, id: string) =>
  pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern

/** Merges the corrections of one model; later ones win. */
export const correctionOf = (id: string): Partial<Correction> =>
  corrections
    .filter(({ models }) => models.some((pattern) => applies(pattern, id)))
    .reduce<Partial<Correction>>((all, one) => ({ ...all, ...one }), {})

/** Returns the ids that corrections name without a pattern. */
export const describedIds = (): string[] => [
  ...new Set(
    corrections
      .filter(({ entry }) => entry?.category !== undefined)
      .flatMap(({ models }) => models.filter((id) => !id.endsWith('*'))),
  ),
]
