import type { Kysely, Selectable } from 'kysely'
import type { DiscoveredFacts } from './discovered-model'
import { readOwnerPrices, type OwnerPrices } from './owner-price'
import { withOwnAddress, byPriority, type ProviderConnection } from './snapshot'
import { toConnection, filterUsable, type StoredOptions } from './stored-models'
import type { ConnectionPoolRow, ConnectionRow, Schema } from '../platform/db/schema'
import type { Provider } from '../providers/provider'

/** A customer's connection, and the models that only its test discovered. */
export interface OwnedConnection extends ProviderConnection {
  /** Discovered models, by their names at the provider. */
  discovered: ReadonlyMap<string, DiscoveredFacts>
}

/** The payer of a connection's requests. Source: contract 11.1. */
export type OwnedBilling = 'byok' | 'org_pays' | 'member_pays'

/** One place in the order of candidates: a connection, or a pool in place of its members. */
export interface ProviderOffer {
  provider: string
  /** The connections that share the load, default first, then by priority; one where it is no pool. */
  connections: readonly [OwnedConnection, ...OwnedConnection[]]
  pool: { id: string; strategy: ConnectionPoolRow['strategy'] } | null
  billing: OwnedBilling
  /** The owning organization, null for the caller's own. */
  organizationId: string | null
}

/** The offers that one account or organization brings to routing: by provider, in their order. */
export type Offer = ReadonlyMap<string, readonly ProviderOffer[]>

/** The offer of an owner without connections. */
export const noOffer: Offer = new Map()

/** More than providers have; a list beyond it would be an attack on memory. */
export const maxDiscoveredModels = 1000

interface Rows {
  connections: readonly Selectable<ConnectionRow>[]
  pools: readonly Pick<
    Selectable<ConnectionPoolRow>,
    'id' | 'provider' | 'strategy' | 'billing_mode' | 'organization_id'
  >[]
  members: readonly { pool_id: string; connection_id: string }[]
  found: readonly { connection_id: string; name: string; found_at: Date }[]
  prices: OwnerPrices
}

export interface OfferOptions extends StoredOptions {
  /** Returns the current providers. */
  providers: () => ReadonlyMap<string, Provider>
}

/**
 * Orders offers: the default first, then by priority, then the oldest, and failing ones last: an offer comes when the
 * first of its connections would.
 */
export const byRank = (
  { connections: [one] }: ProviderOffer,
  { connections: [other] }: ProviderOffer,
) => byHealth(one, other) || byPriority(one, other)

const byHealth = (one: ProviderConnection, other: ProviderConnection) =>
  Number(one.isFailing) - Number(other.isFailing)

/** Puts an owner's rows in order. Damaged rows are left out and reported. */
export function toOffer(rows: Rows, options: OfferOptions): Offer {
  if (rows.connections.length === 0) return noOffer
  const foundModels = Map.groupBy(rows.found, (row) => row.connection_id)
  const providers = options.providers()
  const read = (row: Selectable<ConnectionRow>) => {
    const connection = withOwnAddress(toConnection(row, options), providers.get(row.provider))
    const models = (foundModels.get(row.id) ?? []).flatMap(({ name, found_at: at }) => {
      const pricing = rows.prices.of(row.id, name)
      // A damaged price counts as none, and a model without one would be free: such a model is not served.
      if (pricing === undefined) return []
      return [[name, { at: Math.floor(at.getTime() / 1000), pricing }] as const]
    })
    return { connection: { ...connection, discovered: new Map(models) }, row }
  }
  const knownConnections = filterUsable(rows.connections, read, (error) =>
    options.onDamaged('connection', error),
  )
  const byId = new Map(knownConnections.map(({ connection }) => [connection.id, connection]))
  const pooled = new Set(rows.members.map((member) => member.connection_id))
  const unpooled = knownConnections.filter(({ connection }) => !pooled.has(connection.id))
  const offers = [
    ...unpooled.map(({ connection, row }): ProviderOffer =>
      toProviderOffer([connection], row, null),
    ),
    ...rows.pools.flatMap((pool) => {
      const members = rows.members.filter((member) => member.pool_id === pool.id)
      const [first, ...others] = members
        .flatMap(({ connection_id: id }) => byId.get(id) ?? [])
        .toSorted(byPoolPosition)
      return first ? [toProviderOffer([first, ...others], pool, pool)] : []
    }),
  ]
  return Map.groupBy(offers.toSorted(byRank), ({ provider }) => provider)
}

type BillingRow = Pick<Rows['pools'][number], 'provider' | 'billing_mode' | 'organization_id'>

const toProviderOffer = (
  connections: ProviderOffer['connections'],
  { provider, billing_mode: mode, organization_id: organizationId }: BillingRow,
  pool: ProviderOffer['pool'],
): ProviderOffer => ({
  provider,
  connections,
  pool: pool && { id: pool.id, strategy: pool.strategy },
  billing: mode ?? 'byok',
  organizationId,
})

/** As elsewhere, except that the pool's own order decides where priorities are equal. */
const byPoolPosition = (a: ProviderConnection, b: ProviderConnection) =>
  byHealth(a, b) || Number(b.isDefault) - Number(a.isDefault) || a.priority - b.priority

type OwnerColumn = 'user_id' | 'organization_id'

/** Reads an owner's connections and pools in use. Rejects when the database does not answer. */
export async function readOffer(
  db: Kysely<Schema>,
  owner: { column: OwnerColumn; id: string },
  options: OfferOptions,
): Promise<Offer> {
  const { column, id } = owner
  const connections = await db
    .selectFrom('connection')
    .selectAll()
    .where(column, '=', id)
    .where('status', '<>', 'inactive')
    // A connection of a deleted gateway cannot be called.
    .where((is) => is.or([is('gateway_type', '=', 2), is('gateway_id', 'is not', null)]))
    .execute()
  if (connections.length === 0) return noOffer
  const ids = connections.map((connection) => connection.id)
  const [pools, members, discoveredRows, prices] = await Promise.all([
    db
      .selectFrom('connection_pool')
      .select(['id', 'provider', 'strategy', 'billing_mode', 'organization_id'])
      .where(column, '=', id)
      .where('enabled', '=', true)
      .execute(),
    db
      .selectFrom('connection_pool_member')
      .innerJoin('connection_pool', 'connection_pool.id', 'connection_pool_member.pool_id')
      .select(['pool_id', 'connection_id'])
      .where(column, '=', id)
      .where('enabled', '=', true)
      .orderBy('position')
      .execute(),
    db
      .selectFrom('connection_model')
      .selectAll()
      .where('connection_id', 'in', ids)
      .limit(maxDiscoveredModels * 20)
      .execute(),
    readOwnerPrices(db, ids, (error) => options.onDamaged('price', error)),
  ])
  return toOffer({ connections, pools, members, found: discoveredRows, prices }, options)
}
