import { candidatesOf, findModel, type Billing, type Ways } from './candidate'
import type { CollectionTurns } from './collection-turns'
import { meaningOf } from './names'
import { PoolTurns } from './pool-turns'
import { previewOf } from './preview'
import type { Routing } from './resolve'
import { AccountCatalog, type AccountCatalogs } from '../catalog/account-catalog'
import { collectionPrefix } from '../catalog/collection'
import { Mappings } from '../catalog/mapping'
import { categories, type Model } from '../catalog/model'
import { nothing } from '../catalog/offer'
import type { Snapshot } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { isModelName } from '../wire/model-id'

type BillingMode = Billing['mode'] | null

/** The models that an account may name, at one moment. */
export interface OfferedModels {
  /** By id: those of the catalogue, and those that only its connections have. */
  all: readonly Model[]
  find: (id: string) => Model | undefined
  /** Whether a collection's name, with its prefix, is one that the account may call. */
  hasCollection: (name: string) => Promise<boolean>
  /** How a call would be paid now; null where it would be refused for want of access. */
  billingOf: (model: Model) => BillingMode | Promise<BillingMode>
}

const unmapped = new Mappings([])

/** What there is for an account. Rejects with `gateway_unavailable`. */
export async function offeredTo(
  ways: Omit<Ways, 'turns'>,
  routing: Routing & { turns: CollectionTurns },
): Promise<OfferedModels> {
  const { snapshot, caller } = ways
  const { names } = routing
  const mappings = await names.mappingsOf(caller.userId)
  const looking = { ...ways, turns: new PoolTurns() }
  const find = (id: string) => modelNamed(id, ways)
  return {
    get all() {
      return [...enabledOf(snapshot), ...foundBy(ways)].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
    find,
    hasCollection: async (name) => {
      if (!name.startsWith(collectionPrefix) || !isModelName(name)) return false
      return isThere(async () => meaningOf(name, { snapshot, names, caller, mappings: unmapped }))
    },
    billingOf: (model) => {
      if (!mappings.apply(model.id)) return modeOf(model, looking)
      // Calls by this name go elsewhere.
      const previewed = previewOf({ name: model.id }, ways, routing)
      return previewed.then(({ billingMode }) => billingMode ?? null)
    },
  }
}

const modeOf = (model: Model, ways: Ways): BillingMode =>
  candidatesOf(model, ways)[0]?.billing.mode ?? null

function* enabledOf({ models }: Snapshot) {
  for (const model of models.values()) if (model.enabled) yield model
}

/** Models that only connections of the caller have. */
const foundBy = ({ snapshot, caller }: Pick<Ways, 'snapshot' | 'caller'>): Model[] =>
  caller.catalog
    .found()
    .filter(({ id, provider }) => snapshot.providers.has(provider) && !snapshot.models.has(id))
    .flatMap(({ id }) => modelNamed(id, { snapshot, caller }) ?? [])

function modelNamed(
  id: string,
  { snapshot, caller: { catalog } }: Pick<Ways, 'snapshot' | 'caller'>,
): Model | undefined {
  try {
    return findModel({ snapshot, catalog }, id, categories)
  } catch (thrown) {
    if (thrown instanceof ApiError) return undefined
    throw thrown
  }
}

async function isThere(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look()
    return true
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 404) return false
    throw thrown
  }
}

/** A model that an organization serves to its members. */
export interface ServedModel {
  model: Model
  mode: Billing['mode']
}

/**
 * What an organization serves to those who may call models there, by id; nothing while it is
 * suspended. Rejects with `gateway_unavailable`.
 */
export async function servedBy(
  organizationId: string,
  { snapshot, accounts }: { snapshot: Snapshot; accounts: AccountCatalogs },
): Promise<ServedModel[]> {
  const offer = await accounts.offerOf(organizationId)
  const member = { organizationId, role: 'member', status: 'active', isPrimary: false } as const
  const catalog = new AccountCatalog(nothing, [member], new Map([[organizationId, offer]]))
  const ways = {
    snapshot,
    caller: { userId: '', accountId: '', catalog },
    open: { platformConnections: false },
    turns: new PoolTurns(),
  }
  const listed = [...enabledOf(snapshot)].filter(({ provider }) => offer.has(provider))
  return [...listed, ...foundBy(ways)]
    .flatMap((model) => {
      const mode = modeOf(model, ways)
      return mode === null ? [] : [{ model, mode }]
    })
    .toSorted((one, other) => (one.model.id < other.model.id ? -1 : 1))
}
