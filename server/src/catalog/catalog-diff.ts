import { builtInAnnounced, toModel } from './built-in'
import { servesKind } from './served-kinds'
import type { CatalogEntryRow } from './catalog-file'
import type { CatalogDocument } from './entry-schema'
import { getPricingOn } from './entry-pricing'
import type { Model, Pricing } from './model'
import { isServable } from './is-priced'
import type { Snapshot } from './snapshot'

/** A model whose price in a document differs from the catalogue's. */
export interface Repriced {
  id: string
  before: Pricing | null
  after: Pricing
}

/** An announced price and its first moment. */
interface Planned {
  id: string
  from: Date
  after: Pricing
}

/** The differences of a document from the catalogue. */
export interface CatalogDiff {
  /** Models that the catalogue does not have, with a price or free. */
  added: readonly Model[]
  repriced: readonly Repriced[]
  /** Announced prices that are new. */
  planned: readonly Planned[]
  /** Prices that differ and are not imported: they depend on the day of the week. */
  unimported: readonly string[]
  /** The number of models of the document's providers that it does not have. They stay. */
  missing: number
}

/** The planned prices of each model with a stored price, by their first moment in milliseconds. */
export type StoredPlans = ReadonlyMap<string, Plan>

/** The state of the catalogue before a document is read. */
interface CatalogState extends Pick<Snapshot, 'models' | 'providers'> {
  plans: StoredPlans
}

/** Compares a document with the current catalogue. Models of unknown providers are left out. */
export function compareCatalogs(
  document: CatalogDocument,
  { models, providers, plans }: CatalogState,
  at: Date,
): CatalogDiff {
  const diff = {
    added: [] as Model[],
    repriced: [] as Repriced[],
    planned: [] as Planned[],
    unimported: [] as string[],
  }
  const modelsByName = new Map<string, Model>()
  for (const entry of document.models) {
    const model = findOfferedModel(entry, providers, at)
    if (!model || modelsByName.has(entry.id)) continue
    modelsByName.set(entry.id, model)
    const knownModel = models.get(entry.id)
    if (!model.pricing || !isServable(model)) continue
    const isChanged = !knownModel || !isSame(knownModel.pricing, model.pricing)
    if (dependsOnWeekday(entry)) {
      if (isChanged) diff.unimported.push(entry.id)
      continue
    }
    if (knownModel && knownModel.isFree !== model.isFree) continue
    if (!knownModel) diff.added.push(model)
    else if (isChanged) {
      diff.repriced.push({ id: entry.id, before: knownModel.pricing, after: model.pricing })
    }
    // A stored price hides the built-in one, and its announced changes.
    const plan = plans.get(entry.id) ?? (isChanged ? noChanges : builtInPlan(entry.id, at))
    diff.planned.push(...findNewPrices(toPlannedPrices(entry, at), plan))
  }
  const keys = new Set([...modelsByName.values()].map(({ provider }) => provider))
  const own = [...models.values()].filter(({ provider }) => keys.has(provider))
  return { ...diff, missing: own.filter(({ id }) => !modelsByName.has(id)).length }
}

/**
 * Returns the model of an entry; undefined for an unknown provider, or a kind of model that the provider does not
 * serve.
 */
function findOfferedModel(
  entry: CatalogEntryRow,
  providers: Snapshot['providers'],
  at: Date,
): Model | undefined {
  const provider = providers.get(entry.id.slice(0, entry.id.indexOf('/')))
  return provider && servesKind(provider, entry.category) ? toModel(entry, provider, at) : undefined
}

function toPlannedPrices(
  { id, price, price_changes: changes = [] }: CatalogEntryRow,
  at: Date,
): Planned[] {
  return changes.flatMap(({ from }) => {
    const begin = new Date(`${from}T00:00:00Z`)
    const after = begin > at ? getPricingOn({ price, price_changes: changes }, begin) : null
    return after ? [{ id, from: begin, after }] : []
  })
}

type Plan = ReadonlyMap<number, Pricing>

const noChanges: Plan = new Map()

const findNewPrices = (announced: readonly Planned[], plan: Plan) =>
  announced.filter(({ from, after }) => !isSame(plan.get(from.getTime()) ?? null, after))

function builtInPlan(id: string, at: Date): Plan {
  const entry = builtInAnnounced.get(id)
  const plan = entry ? toPlannedPrices(entry, at) : []
  return new Map(plan.map(({ from, after }) => [from.getTime(), after]))
}

const dependsOnWeekday = ({ price, price_changes: changes = [] }: CatalogEntryRow) =>
  [price, ...changes.map((change) => change.price)].some((one) =>
    one?.hours?.some(({ days, except }) => days !== undefined || except !== undefined),
  )

const isSame = (one: Pricing | null, other: Pricing) =>
  one !== null && textOf(one) === textOf(other)

/** Serializes prices to the same text whatever the order of their fields. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return String(part)
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(
      Object.entries(part).toSorted(([first], [second]) => (first < second ? -1 : 1)),
    )
  })
