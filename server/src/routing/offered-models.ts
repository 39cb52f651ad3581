import { findCallableByAll, filterCallable, explainNotCallable, type NotCallable } from './callable'
import { findCandidates, findModel, type Billing, type RoutingContext } from './candidate'
import type { CollectionRotation } from './collection-rotation'
import { findModelRefusal } from './model-access'
import { findCollections, resolveName } from './resolve-name'
import { PoolRotation } from './pool-rotation'
import { previewRoute } from './preview-route'
import type { Routing } from './resolution'
import { addSuggestions, suggestNames, type UnknownNameError } from './suggest-names'
import { AccountCatalog, type AccountCatalogs } from '../catalog/account-catalog'
import { collectionPrefix } from '../catalog/collection'
import { Mappings } from '../catalog/mapping'
import { categories, type Model } from '../catalog/model'
import { noOffer, type Offer, type OwnedConnection, type ProviderOffer } from '../catalog/offer'
import { findModelByName } from '../catalog/model-names'
import { isRetired } from '../catalog/retirement'
import type { Priceable } from '../catalog/owner-price'
import { applyUnpricedPolicy } from '../catalog/unpriced-policy'
import type { Snapshot } from '../catalog/snapshot'
import { ApiError } from '../errors'
import type { AccessListName } from '../platform/access-lists'
import { isModelName, splitModelId } from '../wire/model-id'

/** How a call is paid, and by which account; null where it would be rejected for want of access. */
type Offering = Pick<Billing, 'mode' | 'payer'> | null

/** The models that an account may name, at one moment. */
export interface OfferedModels {
  /** By id: those of the catalogue, and those that only the account's connections have. */
  all: readonly Model[]
  find: (id: string) => Model | undefined
  /** Whether a collection's name, with its prefix, is one that the account may call. */
  hasCollection: (name: string) => Promise<boolean>
  /** The billing of a call now; null where it would be rejected for want of access. */
  billingOf: (model: Model) => Offering | Promise<Offering>
  /** Those that a call would reach now, by id, without retired ones. Accounts without connections share one list. */
  findCallable: () => Promise<readonly Model[]>
  /** Whether a call would go to a model whose provider has switched it off by now, as far as it has announced that. */
  isRetired: (model: Model) => boolean
  /** The reason that a call for a model that is not callable would be rejected. */
  refusalOf: (model: Model) => NotCallable
  /** The list of the caller's key that refuses a call for a model, undefined where none does. */
  refusingListOf: (model: Model) => AccessListName | undefined
  /** Adds the names like an unknown one that the caller may call to the error about it. */
  suggest: (error: UnknownNameError, name: string) => Promise<ApiError>
}

const unmapped = new Mappings([])

/** Finds the models that are offered to an account, or to a key with lists. Rejects with `gateway_unavailable`. */
export async function findOfferedModels(
  context: Omit<RoutingContext, 'rotation'>,
  routing: Routing & { rotation: CollectionRotation },
): Promise<OfferedModels> {
  const { snapshot, caller } = context
  const { names } = routing
  const mappings = await names.mappingsOf(caller.userId)
  const looking = { ...context, rotation: new PoolRotation() }
  const find = (id: string) => findOfferedModel(id, context)
  const mappedBilling = mappedBillings(looking, routing)
  const billingOf = (model: Model): Offering | Promise<Offering> => {
    const mapping = mappings.apply(model.id)
    // Calls by a mapped name go elsewhere.
    return mapping ? mappedBilling(model.id, mapping.target) : findBilling(model, looking)
  }
  const all = () => [...listCatalog(context), ...findDiscovered(context)].toSorted(byId)
  const isRetiredModel = (model: Model) =>
    isRetired(model, Date.now()) && mappings.apply(model.id) === undefined
  const findCallable = () =>
    filterCallable(
      all().filter((model) => !isRetiredModel(model)),
      billingOf,
    )
  const refusingListOf = (model: Model) => findModelRefusal(model, caller.accessLists, snapshot)
  return {
    get all() {
      return all()
    },
    find,
    hasCollection: async (name) => {
      if (!name.startsWith(collectionPrefix) || !isModelName(name)) return false
      return exists(async () => resolveName(name, { snapshot, names, caller, mappings: unmapped }))
    },
    billingOf,
    isRetired: isRetiredModel,
    findCallable: async () => {
      if (!caller.catalog.isEmpty || !mappings.isEmpty) return findCallable()
      const models = await findCallableByAll(context, () => findCallableWithoutLists(looking))
      return caller.accessLists ? models.filter((model) => !refusingListOf(model)) : models
    },
    refusalOf: (model) => explainNotCallable(model, mappings.apply(model.id)?.target, context),
    refusingListOf: (model) => {
      const target = mappings.apply(model.id)?.target
      const calledModel = target === undefined ? model : find(target)
      return calledModel && refusingListOf(calledModel)
    },
    suggest: async (error, name) => {
      const suggestions = await suggestNames({ name, kinds: categories, context: looking }, names)
      return addSuggestions(error, suggestions)
    },
  }
}

const byId = (one: Model, other: Model) => (one.id < other.id ? -1 : 1)

/** Finds what accounts without connections and mappings can call; keys with lists can call less. */
function findCallableWithoutLists(context: RoutingContext): Promise<Model[]> {
  const { accessLists: _accessLists, ...caller } = context.caller
  const models = [...listCatalog(context)].toSorted(byId)
  return filterCallable(
    models.filter((model) => !isRetired(model, Date.now())),
    (model) => findBilling(model, { ...context, caller }),
  )
}

/** Maximum handles in the mappings of one account: no account has more, and each may be looked up. */
const maxHandles = 20

/**
 * The billing of a call that a mapping redirects, by its name and its target. Mappings may redirect thousands of
 * models to as many names that do not exist: an error thrown for each of these would take seconds, so none is thrown.
 */
function mappedBillings(
  context: RoutingContext,
  routing: Routing & { rotation: CollectionRotation },
) {
  const { snapshot, caller } = context
  const { names } = routing
  const owners = new Map<string, ReturnType<typeof names.ownerOf>>()
  let collections: Promise<Set<string>> | undefined
  const knownBillings = new Map<string, Promise<Offering>>()

  const ofCollection = async (requestedName: string, target: string): Promise<Offering> => {
    collections ??= findCollections({ snapshot, names, caller }).then(namesOf)
    if (!(await collections).has(target)) return null
    return (await previewRoute({ name: requestedName }, context, routing)).billing ?? null
  }
  const ofHandle = async (target: string): Promise<Offering> => {
    const handle = target.slice(0, target.indexOf('/'))
    if (!owners.has(handle)) {
      if (owners.size === maxHandles) return null
      owners.set(handle, names.ownerOf(handle))
    }
    const owner = await owners.get(handle)
    const ownerId = owner && ('userId' in owner ? owner.userId : owner.organizationId)
    const model = findOfferedModel(target.slice(handle.length + 1), context)
    // An owner whose connections the caller may not use has no candidates for it.
    return model && ownerId !== undefined ? findBilling(model, context, ownerId) : null
  }
  return (requestedName: string, target: string): Offering | Promise<Offering> => {
    if (!isModelName(target)) return null
    const { provider } = splitModelId(target)
    if (snapshot.providers.has(provider)) {
      const model = findOfferedModel(target, context)
      return model ? findBilling(model, context) : null
    }
    let billing = knownBillings.get(target)
    if (!billing) {
      billing = target.startsWith(collectionPrefix)
        ? ofCollection(requestedName, target)
        : ofHandle(target)
      knownBillings.set(target, billing)
    }
    return billing
  }
}

const namesOf = (collections: readonly { name: string }[]) =>
  new Set(collections.map(({ name }) => `${collectionPrefix}${name}`))

/** By the first connection that serves it, or by the first of one owner's. */
function findBilling(model: Model, context: RoutingContext, ownerId?: string): Offering {
  const candidates = findCandidates(model, context)
  const first =
    ownerId === undefined
      ? candidates[0]
      : candidates.find(({ connection }) => connection.owner === ownerId)
  return first?.billing ?? null
}

function* listEnabled({ models }: Snapshot) {
  for (const model of models.values()) if (model.enabled) yield model
}

/** Models of the catalogue at the price that the operator's setting gives to those without one. */
function* listCatalog({ snapshot, open }: Pick<RoutingContext, 'snapshot' | 'open'>) {
  for (const model of listEnabled(snapshot)) yield applyUnpricedPolicy(model, open.unpricedModels)
}

/** Models that only connections of the caller have. */
const findDiscovered = ({ snapshot, caller, open }: ModelScope): Model[] =>
  caller.catalog
    .listDiscovered()
    .filter(({ id, provider }) => snapshot.providers.has(provider) && !snapshot.models.has(id))
    .flatMap(({ id }) => findOfferedModel(id, { snapshot, caller, open }) ?? [])

/** The inputs that give names their models. */
type ModelScope = Pick<RoutingContext, 'snapshot' | 'caller' | 'open'>

function findOfferedModel(
  id: string,
  { snapshot, caller: { catalog }, open }: ModelScope,
): Model | undefined {
  if (!isModelName(id)) return undefined
  const { provider, name } = splitModelId(id)
  const listedModel = snapshot.models.get(id)
  const exists = listedModel
    ? listedModel.enabled
    : catalog.find(provider, name) !== undefined || findModelByName(snapshot, id) !== undefined
  if (!exists || !snapshot.providers.has(provider)) return undefined
  return findModel({ snapshot, catalog, open }, id, categories)
}

async function exists(find: () => Promise<unknown>): Promise<boolean> {
  try {
    await find()
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
  const sharedOffer = await accounts.sharedBy(organizationId)
  if (!sharedOffer) return []
  const offer = narrowOffer(sharedOffer.offer, by)
  const role = { role: 'member', status: 'active', isPrimary: false } as const
  const member = { organizationId, ...role, spendingLimit: null }
  const catalog = new AccountCatalog(noOffer, [member], {
    shared: new Map([[organizationId, { ...sharedOffer, offer }]]),
    fundedBy: null,
  })
  const context = {
    snapshot,
    caller: { userId: '', accountId: '', catalog },
    open: {
      ...open,
      platformConnections: false,
      unpricedModels: 'refuse' as const,
      bareModelNames: false,
    },
    rotation: new PoolRotation(),
  }
  const listedModels = [...listEnabled(snapshot)].filter(({ provider }) => offer.has(provider))
  return [...listedModels, ...findDiscovered(context)]
    .flatMap((model) => {
      const billing = findBilling(model, context)
      return billing === null ? [] : [{ model, mode: billing.mode }]
    })
    .toSorted((one, other) => (one.model.id < other.model.id ? -1 : 1))
}

/** Without the providers that become empty. */
function narrowOffer(offer: Offer, by: Serving['by']): Offer {
  const narrowedOffer = [...offer].map(([provider, offers]) => {
    const selectedOffers = offers.flatMap((providerOffer): ProviderOffer[] => {
      const [first, ...otherConnections] = providerOffer.connections.filter(by)
      return first ? [{ ...providerOffer, connections: [first, ...otherConnections] }] : []
    })
    return [provider, selectedOffers] as const
  })
  return new Map(narrowedOffer.filter(([, offers]) => offers.length > 0))
}
