import { modelOf, offers, type Entry } from './built-in'
import type { CatalogDocument } from './entry-schema'
import { pricingOn } from './entry-pricing'
import type { Model, Pricing } from './model'
import { isServable } from './priced'
import type { Snapshot } from './snapshot'

/** A price that a model of the catalogue has otherwise. */
export interface Repriced {
  id: string
  before: Pricing | null
  after: Pricing
}

/** What a document has otherwise than the catalogue. */
export interface CatalogDiff {
  /** Models that the catalogue does not have, with a price or free. */
  added: readonly Model[]
  repriced: readonly Repriced[]
  /** Announced prices: their first moment. */
  planned: readonly { id: string; from: Date; after: Pricing }[]
  /** Prices that differ and are not taken: they depend on the day of the week. */
  kept: readonly string[]
  /** How many models of the document's providers it does not have. They stay. */
  missing: number
}

/** Compares a document with the catalogue as it is. Models of unknown providers are left out. */
export function diffOf(
  document: CatalogDocument,
  { models, providers }: Snapshot,
  at: Date,
): CatalogDiff {
  const diff = {
    added: [] as Model[],
    repriced: [] as Repriced[],
    planned: [] as { id: string; from: Date; after: Pricing }[],
    kept: [] as string[],
  }
  const named = new Set<string>()
  for (const entry of document.models) {
    const provider = providers.get(entry.id.slice(0, entry.id.indexOf('/')))
    if (!provider || !offers(provider, entry) || named.has(entry.id)) continue
    named.add(entry.id)
    const model = modelOf(entry, provider, at)
    const known = models.get(entry.id)
    if (!model.pricing || !isServable(model)) continue
    const isChanged = !known || !isSame(known.pricing, model.pricing)
    if (isChanged && byWeekday(entry)) diff.kept.push(entry.id)
    else if (!known) diff.added.push(model)
    else if (isChanged && known.isFree === model.isFree) {
      diff.repriced.push({ id: entry.id, before: known.pricing, after: model.pricing })
    }
    if (isChanged && !byWeekday(entry)) diff.planned.push(...plannedOf(entry, at))
  }
  const keys = new Set([...named].map((id) => id.slice(0, id.indexOf('/'))))
  const own = [...models.values()].filter(({ provider }) => keys.has(provider))
  return { ...diff, missing: own.filter(({ id }) => !named.has(id)).length }
}

function plannedOf({ id, price, price_changes: changes = [] }: Entry, at: Date) {
  return changes.flatMap(({ from }) => {
    const begin = new Date(`${from}T00:00:00Z`)
    const after = begin > at ? pricingOn({ price, price_changes: changes }, begin) : null
    return after ? [{ id, from: begin, after }] : []
  })
}

const byWeekday = ({ price, price_changes: changes = [] }: Entry) =>
  [price, ...changes.map((change) => change.price)].some((one) =>
    one?.hours?.some(({ days, except }) => days !== undefined || except !== undefined),
  )

const isSame = (one: Pricing | null, other: Pricing) =>
  one !== null && textOf(one) === textOf(other)

/** The same text for the same prices, in whichever order their fields are. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return String(part)
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(
      Object.entries(part).toSorted(([first], [second]) => (first < second ? -1 : 1)),
    )
  })
