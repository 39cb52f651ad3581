import { freeCollection, type Collection } from './collection'
import type { Model } from './model'
import { applyStoredCost, inheritCost, type ModelCosts } from './model-cost'
import { applyPriceStep, type PriceSteps } from './price-steps'
import type { ConnectionHeaders } from '../providers/connection-headers'
import type { ConnectionOptions } from '../providers/connection-options'
import { deriveAddress } from '../providers/own-address'
import type { NetworkRoute } from '../platform/network-route'
import type { Provider } from '../providers/provider'

/** A provider's address and credential, ready for use. */
export interface ProviderConnection {
  id: string
  provider: string
  name: string
  /** The account that owns it, null for the operator's own; decides whether egress is guarded. */
  owner: string | null
  /** Without a final slash; null for a provider inside the process. */
  baseUrl: string | null
  secret: string | null
  options: ConnectionOptions
  /** The way to its address, where it is not the usual one. */
  network: NetworkRoute | null
  /** Headers of its own, sent with each request. */
  headers: ConnectionHeaders | null
  /** Lower comes first. */
  priority: number
  isDefault: boolean
  /** Whether its provider last rejected its credential, or its test failed. */
  isFailing: boolean
  /** Its limits of requests, tokens, images and seconds of sound a minute, null for no limit. */
  rpm: number | null
  tpm: number | null
  imagesPerMinute: number | null
  audioSecondsPerMinute: number | null
  /** The self-hosted gateway that calls its provider; null where Tollgate does. */
  gatewayId: string | null
  /** The models that are known only from it, and that no other connection serves; null for any. */
  onlyModels: ReadonlySet<string> | null
}

/** The catalogue at one moment. A request uses one snapshot from beginning to end. */
export interface Snapshot {
  models: ReadonlyMap<string, Model>
  providers: ReadonlyMap<string, Provider>
  /** Platform connections by provider key, in the order in which they are tried. */
  connections: ReadonlyMap<string, readonly ProviderConnection[]>
  /** Collections of the system, by name. */
  collections: ReadonlyMap<string, Collection>
}

/** The parts of a snapshot; later models and providers replace earlier ones of the same name. */
export interface SnapshotRows {
  models: readonly Model[]
  providers: readonly Provider[]
  connections: readonly ProviderConnection[]
  /** Collections of the system. */
  collections?: readonly Collection[]
  /** The operator's prices for models. */
  prices?: PriceSteps | undefined
  /** The stored costs of models. */
  costs?: ModelCosts | undefined
}

/** Puts the parts in order: models by provider and name, connections by the order in which they are tried. */
export function toSnapshot(rows: SnapshotRows): Snapshot {
  const { models, providers, connections, collections = [], prices, costs } = rows
  const byKey = new Map(providers.map((provider) => [provider.key, provider]))
  const knownModels = new Map<string, Model>()
  for (const model of models) {
    if (!byKey.has(model.provider)) continue
    const modelWithCost = inheritCost(model, knownModels.get(model.id))
    knownModels.set(model.id, applyStoredCost(applyPriceStep(modelWithCost, prices), costs))
  }
  const ordered = new Map([...knownModels].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const byProvider = new Map<string, ProviderConnection[]>()
  for (const storedConnection of connections.toSorted(byPriority)) {
    const connection = withOwnAddress(storedConnection, byKey.get(storedConnection.provider))
    const others = byProvider.get(connection.provider)
    if (others) others.push(connection)
    else byProvider.set(connection.provider, [connection])
  }
  return {
    models: ordered,
    providers: byKey,
    connections: byProvider,
    collections: new Map(
      collections.map((collection) => [collection.name, fillFreeCollection(collection, ordered)]),
    ),
  }
}

/** Fills `auto-free` with models that cost nothing: those it lists, else all that exist. */
function fillFreeCollection(
  collection: Collection,
  models: ReadonlyMap<string, Model>,
): Collection {
  if (collection.name !== freeCollection) return collection
  const freeMembers = collection.members.filter(({ modelId }) => models.get(modelId)?.isFree)
  if (collection.members.length > 0) return { ...collection, members: freeMembers }
  const free = [...models.values()].filter(
    ({ isFree, enabled, category }) => isFree && enabled && category === 'chat',
  )
  return {
    ...collection,
    members: free.map(({ id, simulated: isStandIn }) => ({
      modelId: id,
      priority: 1,
      weight: 1,
      isStandIn,
    })),
  }
}

/** Completes a connection with the address that its own options make, if it has none. */
export function withOwnAddress(
  connection: ProviderConnection,
  provider: Provider | undefined,
): ProviderConnection {
  if (!provider || connection.baseUrl !== null) return connection
  try {
    return { ...connection, baseUrl: deriveAddress({ provider, connection }) ?? null }
  } catch {
    // A damaged credential is reported where it is used.
    return connection
  }
}

/** The fields that decide the order of connections. */
type Ordered = Pick<ProviderConnection, 'id' | 'isDefault' | 'priority'>

/** Default first, then by priority, then the oldest. */
export const byPriority = (a: Ordered, b: Ordered) =>
  Number(b.isDefault) - Number(a.isDefault) || a.priority - b.priority || (a.id < b.id ? -1 : 1)
