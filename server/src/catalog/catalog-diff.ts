import { builtInAnnounced, modelOf, offers, type Entry } from './built-in'
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

/** An announced price, and its first moment. */
interface Planned {
  id: string
  from: Date
  after: Pricing
}

/** What a document has otherwise than the catalogue. */
export interface CatalogDiff {
  /** Models that the catalogue does not have, with a price or free. */
  added: readonly Model[]
  repriced: readonly Repriced[]
  /** Announced prices that are not known yet. */
  planned: readonly Planned[]
  /** Prices that differ and are not taken: they depend on the day of the week. */
  kept: readonly string[]
  /** How many models of the document's providers it does not have. They stay. */
  missing: number
}

/** Of each model with a stored price, those that are to come, by their first moment in milliseconds. */
export type StoredPlans = ReadonlyMap<string, Plan>

/** What is known before a document is read. */
interface Known extends Pick<Snapshot, 'models' | 'providers'> {
  plans: StoredPlans
}

/** Compares a document with the catalogue as it is. Models of unknown providers are left out. */
export function diffOf(
  document: CatalogDocument,
  { models, providers, plans }: Known,
  at: Date,
): CatalogDiff {
  const diff = {
    added: [] as Model[],
    repriced: [] as Repriced[],
    planned: [] as Planned[],
    kept: [] as string[],
  }
  const named = new Map<string, Model>()
  for (const entry of document.models) {
    const model = offeredModel(entry, providers, at)
    if (!model || named.has(entry.id)) continue
    named.set(entry.id, model)
    const known = models.get(entry.id)
    if (!model.pricing || !isServable(model)) continue
    const isChanged = !known || !isSame(known.pricing, model.pricing)
    if (byWeekday(entry)) {
      if (isChanged) diff.kept.push(entry.id)
      continue
    }
    if (known && known.isFree !== model.isFree) continue
    if (!known) diff.added.push(model)
    else if (isChanged) {
      diff.repriced.push({ id: entry.id, before: known.pricing, after: model.pricing })
    }
    // A price that is stored hides what came with Tollgate, also what that announced.
    const plan = plans.get(entry.id) ?? (isChanged ? nothing : builtInPlan(entry.id, at))
    diff.planned.push(...newIn(plannedOf(entry, at), plan))
  }
  const keys = new Set([...named.values()].map(({ provider }) => provider))
  const own = [...models.values()].filter(({ provider }) => keys.has(provider))
  return { ...diff, missing: own.filter(({ id }) => !named.has(id)).length }
}

/** Undefined for a model of a provider that is not known, or of a kind that it is not asked for. */
function offeredModel(entry: Entry, providers: Snapshot['providers'], at: Date): Model | undefined {
  const provider = providers.get(entry.id.slice(0, entry.id.indexOf('/')))
  return provider && offers(provider, entry) ? modelOf(entry, provider, at) : undefined
}

function plannedOf({ id, price, price_changes: changes = [] }: Entry, at: Date): Planned[] {
  return changes.flatMap(({ from }) => {
    const begin = new Date(`${from}T00:00:00Z`)
    const after = begin > at ? pricingOn({ price, price_changes: changes }, begin) : null
    return after ? [{ id, from: begin, after }] : []
  })
}

type Plan = ReadonlyMap<number, Pricing>

const nothing: Plan = new Map()

const newIn = (announced: readonly Planned[], plan: Plan) =>
  announced.filter(({ from, after }) => !isSame(plan.get(from.getTime()) ?? null, after))

function builtInPlan(id: string, at: Date): Plan {
  const entry = builtInAnnounced.get(id)
  const plan = entry ? plannedOf(entry, at) : []
  return new Map(plan.map(({ from, after }) => [from.getTime(), after]))
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
