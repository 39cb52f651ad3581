import type { Kysely, Selectable } from 'kysely'
import type { Found } from './found'
import { readOwnerPrices, type OwnerPrices } from './owner-price'
import { addressed, byTurn, type Connection } from './snapshot'
import { toConnection, usable, type StoredOptions } from './stored'
import type { ConnectionPoolRow, ConnectionRow, Schema } from '../db/schema'
import type { Provider } from '../providers/provider'

/** A customer's connection, and the models that only a test of it found. */
export interface OwnedConnection extends Connection {
  /** By name at the provider. */
  found: ReadonlyMap<string, Found>
}

/** How a connection's requests are paid. Source: contract 11.1. */
export type OwnedBilling = 'byok' | 'org_pays' | 'member_pays'

/** One place in the order of candidates: a connection, or a pool in place of its members. */
export interface Place {
  provider: string
  /** Those that take turns, default first, then by priority; one where it is no pool. */
  connections: readonly [OwnedConnection, ...OwnedConnection[]]
  pool: { id: string; strategy: ConnectionPoolRow['strategy'] } | null
  billing: OwnedBilling
  /** Whose it is, null for the caller's own. */
  organizationId: string | null
}

/** What one account or organization brings to routing: its places by provider, in their order. */
export type Offer = ReadonlyMap<string, readonly Place[]>

/** Of the many who own nothing. */
export const nothing: Offer = new Map()

/** More than providers have; a list beyond it would be an attack on memory. */
export const mostFoundModels = 1000

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
  /** The providers at this moment. */
  providers: () => ReadonlyMap<string, Provider>
}

/**
 * Default first, then by priority, then the oldest, and last what is failing: a place comes when the
 * first of its connections would.
 */
export const byPlace = ({ connections: [one] }: Place, { connections: [other] }: Place) =>
  byHealth(one, other) || byTurn(one, other)

const byHealth = (one: Connection, other: Connection) =>
  Number(one.isFailing) - Number(other.isFailing)

/** Puts an owner's rows in order. What is damaged is left out, and said. */
export function toOffer(rows: Rows, options: OfferOptions): Offer {
  if (rows.connections.length === 0) return nothing
  const found = Map.groupBy(rows.found, (row) => row.connection_id)
  const providers = options.providers()
  const read = (row: Selectable<ConnectionRow>) => {
    const connection = addressed(toConnection(row, options), providers.get(row.provider))
    const models = (found.get(row.id) ?? []).flatMap(({ name, found_at: at }) => {
      const pricing = rows.prices.of(row.id, name)
      // A damaged price is none, and what has none would be free: such a model is not served.
      if (pricing === undefined) return []
      return [[name, { at: Math.floor(at.getTime() / 1000), pricing }] as const]
    })
    return { connection: { ...connection, found: new Map(models) }, row }
  }
  const known = usable(rows.connections, read, (error) => options.onDamaged('connection', error))
  const byId = new Map(known.map(({ connection }) => [connection.id, connection]))
  const pooled = new Set(rows.members.map((member) => member.connection_id))
  const alone = known.filter(({ connection }) => !pooled.has(connection.id))
  const places = [
    ...alone.map(({ connection, row }): Place => placeOf([connection], row, null)),
    ...rows.pools.flatMap((pool) => {
      const members = rows.members.filter((member) => member.pool_id === pool.id)
      const [first, ...others] = members
        .flatMap(({ connection_id: id }) => byId.get(id) ?? [])
        .toSorted(byTurnInPool)
      return first ? [placeOf([first, ...others], pool, pool)] : []
    }),
  ]
  return Map.groupBy(places.toSorted(byPlace), ({ provider }) => provider)
}

type Paid = Pick<Rows['pools'][number], 'provider' | 'billing_mode' | 'organization_id'>

const placeOf = (
  connections: Place['connections'],
  { provider, billing_mode: mode, organization_id: organizationId }: Paid,
  pool: Place['pool'],
): Place => ({
  provider,
  connections,
  pool: pool && { id: pool.id, strategy: pool.strategy },
  billing: mode ?? 'byok',
  organizationId,
})

/** As elsewhere, but that the pool's own order decides where priorities are equal. */
const byTurnInPool = (a: Connection, b: Connection) =>
  byHealth(a, b) || Number(b.isDefault) - Number(a.isDefault) || a.priority - b.priority

type OwnerColumn = 'user_id' | 'organization_id'

/** Reads what is in use of an owner's. Rejects when the database does not answer. */
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
    // What calls those of a gateway that was deleted is gone.
    .where((is) => is.or([is('gateway_type', '=', 2), is('gateway_id', 'is not', null)]))
    .execute()
  if (connections.length === 0) return nothing
  const ids = connections.map((connection) => connection.id)
  const [pools, members, found, prices] = await Promise.all([
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
      .limit(mostFoundModels * 20)
      .execute(),
    readOwnerPrices(db, ids, (error) => options.onDamaged('price', error)),
  ])
  return toOffer({ connections, pools, members, found, prices }, options)
}
