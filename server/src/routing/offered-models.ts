import { findCallableByAll, filterCallable, explainNotCallable, type NotCallable } from './callable'
import { findCandidates, findModel, type Billing, type RoutingContext } from './candidate'
import type { CollectionTurns } from './collection-turns'
import { findCollections, resolveName } from './resolve-name'
import { PoolTurns } from './pool-turns'
import { previewRoute } from './preview-route'
import type { Routing } from './resolve-model'
import { AccountCatalog, type AccountCatalogs } from '../catalog/account-catalog'
import { collectionPrefix } from '../catalog/collection'
import { Mappings } from '../catalog/mapping'
import { categories, type Model } from '../catalog/model'
import { nothing, type Offer, type OwnedConnection, type CandidatePlace } from '../catalog/offer'
import { findModelByName } from '../catalog/model-names'
import type { Priceable } from '../catalog/owner-price'
import { applyUnpricedPolicy } from '../catalog/unpriced-policy'
import type { Snapshot } from '../catalog/snapshot'
import { ApiError } from '../errors'
import { isModelName, splitModelId } from '../wire/model-id'

type BillingMode = Billing['mode'] | null

/** The models that an account may name, at one moment. */
export interface OfferedModels {
  /** By id: those of the catalogue, and those that only the account's connections have. */
  all: readonly Model[]
  find: (id: string) => Model | undefined
  /** Whether a collection's name, with its prefix, is one that the account may call. */
  hasCollection: (name: string) => Promise<boolean>
  /** The billing of a call now; null where it would be rejected for want of access. */
  billingOf: (model: Model) => BillingMode | Promise<BillingMode>
  /** Those that a call would reach now, by id. Accounts without connections share one list. */
  callable: () => Promise<readonly Model[]>
  /** The reason that a call for a model that is not callable would be rejected. */
  refusalOf: (model: Model) => NotCallable
}

const unmapped = new Mappings([])

/** Finds the models that are offered to an account. Rejects with `gateway_unavailable`. */
export async function findOfferedModels(
  ways: Omit<RoutingContext, 'turns'>,
  routing: Routing & { turns: CollectionTurns },
): Promise<OfferedModels> {
  const { snapshot, caller } = ways
  const { names } = routing
  const mappings = await names.mappingsOf(caller.userId)
  const looking = { ...ways, turns: new PoolTurns() }
  const find = (id: string) => offeredModel(id, ways)
  const mappedMode = mappedModes(looking, routing)
  const billingOf = (model: Model): BillingMode | Promise<BillingMode> => {
    const mapped = mappings.apply(model.id)
    // Calls by a mapped name go elsewhere.
    return mapped ? mappedMode(model.id, mapped.target) : modeOf(model, looking)
  }
  const all = () => [...listedIn(ways), ...foundBy(ways)].toSorted(byId)
  const callable = () => filterCallable(all(), billingOf)
  return {
    get all() {
      return all()
    },
    find,
    hasCollection: async (name) => {
      if (!name.startsWith(collectionPrefix) || !isModelName(name)) return false
      return isThere(async () => resolveName(name, { snapshot, names, caller, mappings: unmapped }))
    },
    billingOf,
    callable: () =>
      caller.catalog.isEmpty && mappings.isEmpty ? findCallableByAll(ways, callable) : callable(),
    refusalOf: (model) => explainNotCallable(model, mappings.apply(model.id)?.target, ways),
  }
}

const byId = (one: Model, other: Model) => (one.id < other.id ? -1 : 1)

/** Maximum handles in the mappings of one account: no account has more, and each may be looked up. */
const mostHandles = 20

/**
 * The billing of a call that a mapping redirects, by its name and its target. Mappings may redirect thousands of
 * models to as many names that do not exist: an error thrown for each of these would take seconds, so none is thrown.
 */
function mappedModes(ways: RoutingContext, routing: Routing & { turns: CollectionTurns }) {
  const { snapshot, caller } = ways
  const { names } = routing
  const owners = new Map<string, ReturnType<typeof names.ownerOf>>()
  let collections: Promise<Set<string>> | undefined
  const known = new Map<string, Promise<BillingMode>>()

  const ofCollection = async (asked: string, target: string): Promise<BillingMode> => {
    collections ??= findCollections({ snapshot, names, caller }).then(namesOf)
    if (!(await collections).has(target)) return null
    return (await previewRoute({ name: asked }, ways, routing)).billingMode ?? null
  }
  const ofHandle = async (target: string): Promise<BillingMode> => {
    const handle = target.slice(0, target.indexOf('/'))
    if (!owners.has(handle)) {
      if (owners.size === mostHandles) return null
      owners.set(handle, names.ownerOf(handle))
    }
    const owner = await owners.get(handle)
    const ownerId = owner && ('userId' in owner ? owner.userId : owner.organizationId)
    const model = offeredModel(target.slice(handle.length + 1), ways)
    // An owner whose connections the caller may not use has no candidates for it.
    return model && ownerId !== undefined ? modeOf(model, ways, ownerId) : null
  }
  return (asked: string, target: string): BillingMode | Promise<BillingMode> => {
    if (!isModelName(target)) return null
    const { provider } = splitModelId(target)
    if (snapshot.providers.has(provider)) {
      const model = offeredModel(target, ways)
      return model ? modeOf(model, ways) : null
    }
    let mode = known.get(target)
    if (!mode) {
      mode = target.startsWith(collectionPrefix) ? ofCollection(asked, target) : ofHandle(target)
      known.set(target, mode)
    }
    return mode
  }
}

const namesOf = (collections: readonly { name: string }[]) =>
  new Set(collections.map(({ name }) => `${collectionPrefix}${name}`))

/** By the first connection that serves it, or by the first of one owner's. */
function modeOf(model: Model, ways: RoutingContext, ownerId?: string): BillingMode {
  const candidates = findCandidates(model, ways)
  const first =
    ownerId === undefined
      ? candidates[0]
      : candidates.find(({ connection }) => connection.owner === ownerId)
  return first?.billing.mode ?? null
}

function* enabledOf({ models }: Snapshot) {
  for (const model of models.values()) if (model.enabled) yield model
}

/** Models of the catalogue at the price that the operator's setting gives to those without one. */
function* listedIn({ snapshot, open }: Pick<RoutingContext, 'snapshot' | 'open'>) {
  for (const model of enabledOf(snapshot)) yield applyUnpricedPolicy(model, open.unpricedModels)
}

/** Models that only connections of the caller have. */
const foundBy = ({ snapshot, caller, open }: Naming): Model[] =>
  caller.catalog
    .found()
    .filter(({ id, provider }) => snapshot.providers.has(provider) && !snapshot.models.has(id))
    .flatMap(({ id }) => offeredModel(id, { snapshot, caller, open }) ?? [])

/** The inputs that give names their models. */
type Naming = Pick<RoutingContext, 'snapshot' | 'caller' | 'open'>

function offeredModel(
  id: string,
  { snapshot, caller: { catalog }, open }: Naming,
): Model | undefined {
  if (!isModelName(id)) return undefined
  const { provider, name } = splitModelId(id)
  const listed = snapshot.models.get(id)
  const isThere = listed
    ? listed.enabled
    : catalog.find(provider, name) !== undefined || findModelByName(snapshot, id) !== undefined
  if (!isThere || !snapshot.providers.has(provider)) return undefined
  return findModel({ snapshot, catalog, open }, id, categories)
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
interface ServedModel {
  model: Model
  mode: Billing['mode']
}

interface Serving {
  snapshot: Snapshot
  accounts: AccountCatalogs
  open: Priceable
  /** Selects the connections. */
  by: (connection: OwnedConnection) => boolean
}

/**
 * Finds the models that an organization's connections serve to callers with access there, by id; none while it is
 * suspended. Rejects with `gateway_unavailable`.
 */
export async function findServedModels(
  organizationId: string,
  { snapshot, accounts, open, by }: Serving,
): Promise<ServedModel[]> {
  const shared = await accounts.sharedBy(organizationId)
  if (!shared) return []
  const offer = narrowed(shared.offer, by)
  const standing = { role: 'member', status: 'active', isPrimary: false } as const
  const member = { organizationId, ...standing, spendingLimit: null }
  const catalog = new AccountCatalog(nothing, [member], {
    shared: new Map([[organizationId, { ...shared, offer }]]),
    fundedBy: null,
  })
  const ways = {
    snapshot,
    caller: { userId: '', accountId: '', catalog },
    open: { ...open, platformConnections: false, unpricedModels: 'refuse' as const },
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

/** Without the places that become empty. */
function narrowed(offer: Offer, by: Serving['by']): Offer {
  const left = [...offer].map(([provider, places]) => {
    const kept = places.flatMap((place): CandidatePlace[] => {
      const [first, ...others] = place.connections.filter(by)
      return first ? [{ ...place, connections: [first, ...others] }] : []
    })
    return [provider, kept] as const
  })
  return new Map(left.filter(([, places]) => places.length > 0))
}
