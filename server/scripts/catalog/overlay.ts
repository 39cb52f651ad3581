import overlay from './overlay.json' with { type: 'json' }
import type { EntryPrice, EntryRates } from '../../src/catalog/entry-price'
import type { Entry } from '../../src/catalog/built-in'

/** What we know better than the sources: dated, and where it is written. */
export interface Correction {
  date: string
  source: string
  why: string
  /** Ids; a final `*` stands for whatever follows. */
  models: readonly string[]
  /** The whole price, in the place of any other. */
  price?: EntryPrice
  /** Rates in place of those of the sources; null for one that the model does not have. */
  rates?: Partial<Record<keyof EntryRates, number | null>>
  /** Prices by length in the place of those that the sources have; an empty list for none. */
  tiers?: NonNullable<EntryPrice['tiers']>
  /** The same of service tiers; null for one that the provider does not have. */
  service_tiers?: Record<string, NonNullable<EntryPrice['service_tiers']>['flex'] | null>
  /** Bounds of prices by length -> what they are exactly. */
  bounds?: Record<number, number>
  /** Days of UTC without dear hours, besides those of the week. */
  off_peak_days?: readonly string[]
  /** Nothing is charged for it. */
  free?: boolean
  /** It stays listed without a price. */
  unpriced?: boolean
  /** It is not listed. */
  left_out?: boolean
  /** It is listed though a source says that it ended. */
  kept?: boolean
  /** The source whose price is taken, where the others are wrong. */
  prefer?: string
  /** Fields of the entry; it is added where no source has it. */
  entry?: Partial<Omit<Entry, 'id'>>
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

/** The corrections of one model, put together; later ones count. */
export const correctionOf = (id: string): Partial<Correction> =>
  corrections
    .filter(({ models }) => models.some((pattern) => applies(pattern, id)))
    .reduce<Partial<Correction>>((all, one) => ({ ...all, ...one }), {})

/** The ids that corrections describe by name. */
export const describedIds = (): string[] => [
  ...new Set(
    corrections
      .filter(({ entry }) => entry?.category !== undefined)
      .flatMap(({ models }) => models.filter((id) => !id.endsWith('*'))),
  ),
]
