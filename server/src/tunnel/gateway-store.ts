import { sql, type Kysely, type Transaction } from 'kysely'
import type { Capabilities } from './capabilities'
import type { AuthenticatedGateway, GatewayIdentity, TunnelConnection } from './tunnel-connection'
import { markOnline } from './online-minutes'
import { replaceServedModels } from '../catalog/discovered-models'
import type { Snapshot } from '../catalog/snapshot'
import { lockOwner } from '../platform/db/account-row'
import { withTimeout } from '../platform/with-timeout'
import { maxHeartbeatAgeSeconds, gatewayStatus } from '../platform/db/gateway-row'
import type { GatewayRow } from '../platform/db/gateway-schema'
import type { Schema } from '../platform/db/schema'

/** The timeout of a query of a near database: a gateway learns within a second that it is refused, or should reconnect. */
const lookupTimeoutMs = 900
/** The timeout of the writes for a hello. */
const helloMs = 5000

interface StorePorts {
  db: Kysely<Schema>
  /** Returns a timeout that also allows for the round trips to a database that is far away. */
  timeoutFor: (nearMs: number) => number
  /** This process. */
  node: string
  catalog: { readonly snapshot: Snapshot }
  /**
   * Creates the connection of a new gateway, in a transaction that has locked its owner. Rejects with `limit_reached`.
   */
  connect: (trx: Transaction<Schema>, gateway: GatewayIdentity, provider: string) => Promise<void>
}

/** The node and socket of a gateway, and the models it serves. */
export interface TunnelLocation {
  gateway: string
  node: string
  socket: string
  /** As `Capabilities.serves`; compares hashes, so that about one name in many millions may be wrong. */
  serves: Capabilities['serves']
  takesMedia: boolean
}

export type GatewayRows = ReturnType<typeof createGatewayRows>

/** Creates the store of gateways. All methods reject when the database does not answer. */
export const createGatewayRows = (ports: StorePorts) => ({
  /** Finds the gateway of a token by its hash in hexadecimal; undefined for an unknown token or a suspended owner. */
  find: (hash: string) =>
    withTimeout(findGateway(ports.db, hash), ports.timeoutFor(lookupTimeoutMs)),
  /** Whether a gateway still exists, and its owner is not suspended. */
  gatewayExists: (id: string) =>
    withTimeout(gatewayExists(ports.db, id), ports.timeoutFor(lookupTimeoutMs)),
  /** Stores that a socket has opened. False where its gateway was deleted, or has a newer socket. */
  attach: (link: TunnelConnection) =>
    withTimeout(attach(ports, link), ports.timeoutFor(lookupTimeoutMs)),
  /** Stores the capabilities of a gateway. False where the socket is no longer the gateway's own. */
  welcome: (link: TunnelConnection, capabilities: Capabilities) =>
    withTimeout(welcome(ports, link, capabilities), ports.timeoutFor(helloMs)),
  /** Stores that a socket has closed. */
  detach: (link: TunnelConnection, status: 'offline' | 'error') =>
    withTimeout(detach(ports, link, status), ports.timeoutFor(helloMs)),
  /** Returns the location of an online gateway's socket; undefined for any other. */
  findLocation: (id: string) =>
    withTimeout(findLocation(ports.db, id), ports.timeoutFor(lookupTimeoutMs)),
  /** Returns the tools announced over a socket; undefined where the socket is no longer its gateway's. */
  tools: (at: TunnelLocation) =>
    withTimeout(tools(ports.db, at), ports.timeoutFor(lookupTimeoutMs)),
  /** Renews the heartbeat of sockets. Returns the ids of those that are still their gateways'. */
  recordHeartbeats: (links: readonly TunnelConnection[]) =>
    withTimeout(recordHeartbeats(ports.db, links), ports.timeoutFor(helloMs)),
})

async function findGateway(
  db: Kysely<Schema>,
  hash: string,
): Promise<AuthenticatedGateway | undefined> {
  const row = await db
    .selectFrom('gateway')
    .select(['id', 'name', 'user_id', 'organization_id', nowMs.as('now_ms')])
    .where('token_hash', '=', Buffer.from(hash, 'hex'))
    .where(isOwned)
    .executeTakeFirst()
  return (
    row && {
      gateway: {
        id: row.id,
        name: row.name,
        userId: row.user_id,
        organizationId: row.organization_id,
      },
      authenticatedAtMs: row.now_ms,
    }
  )
}

const nowMs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::float8`

/** Matches gateways whose owner is not suspended. */
const isOwned = sql<boolean>`(
  exists (select from users where users.id = gateway.user_id and users.status = 'active')
  or exists (select from organization where organization.id = gateway.organization_id
    and organization.status = 'active')
)`

async function gatewayExists(db: Kysely<Schema>, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('gateway')
    .select('id')
    .where('id', '=', id)
    .where(isOwned)
    .executeTakeFirst()
  return row !== undefined
}

async function findLocation(db: Kysely<Schema>, id: string): Promise<TunnelLocation | undefined> {
  const row = await db
    .selectFrom('gateway')
    .select(['node', 'socket', 'models', 'media_socket'])
    .where('id', '=', id)
    .where(gatewayStatus, '=', 'online')
    .where(isOwned)
    .executeTakeFirst()
  if (!row || row.node === null || row.socket === null) return undefined
  // Hashes instead of names: there may be thousands of gateways, with up to 2,000 models each.
  const hashes = Uint32Array.from(row.models, ({ provider, name }) => hashOf(provider, name))
  const { node, socket } = row
  const serves: TunnelLocation['serves'] = (provider, name) =>
    hashes.includes(hashOf(provider, name))
  return { gateway: id, node, socket, serves, takesMedia: row.media_socket === socket }
}

const hashOf = (provider: string, name: string) => Bun.hash.xxHash32(`${provider}/${name}`)

async function tools(db: Kysely<Schema>, { gateway, socket }: TunnelLocation) {
  const row = await db
    .selectFrom('gateway')
    .select('tools')
    .where('id', '=', gateway)
    .where('socket', '=', socket)
    .executeTakeFirst()
  return row?.tools
}

/** Notifies other nodes of a gateway's change; its trigger covers new sockets only. */
const setSocket = (socketId: string) =>
  sql`pg_notify('tollgate_gateway', gateway.id || ' ' || ${socketId})`.as('told')

async function attach(
  { db, node }: StorePorts,
  { gateway, socketId }: TunnelConnection,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('gateway')
    .set({
      node,
      socket: socketId,
      // A breach of the protocol stays visible until the next hello.
      status: sql`case status when 'error' then 'error' else 'starting' end`,
      last_heartbeat_at: sql`now()`,
    })
    .where('id', '=', gateway.id)
    .where(isNewest(socketId))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** A socket may be stored after one that was opened later; after a clock was set back, the new one wins in time. */
const isNewest = (socketId: string) => sql<boolean>`(
  socket is null or socket collate "C" <= ${socketId}
  or last_heartbeat_at < now() - make_interval(secs => ${sql.lit(maxHeartbeatAgeSeconds)})
)`

const detach = async (
  { db }: StorePorts,
  { gateway, socketId }: TunnelConnection,
  status: 'offline' | 'error',
): Promise<void> => {
  await db
    .updateTable('gateway')
    .set({ status, node: null, socket: null })
    .where('id', '=', gateway.id)
    .where('socket', '=', socketId)
    .returning(setSocket(socketId))
    .execute()
}

const welcome = (
  ports: StorePorts,
  link: TunnelConnection,
  capabilities: Capabilities,
): Promise<boolean> =>
  ports.db.transaction().execute(async (trx) => {
    const { gateway, socketId } = link
    const existingGateway = await trx
      .selectFrom('gateway')
      .select('welcomed_at')
      .where('id', '=', gateway.id)
      .executeTakeFirst()
    const isFirst = existingGateway?.welcomed_at === null && capabilities.providers.length > 0
    // Locks the owner before the gateway's own row, in the order in which the deletion of an account does.
    if (isFirst) await lockOwner(trx, toOwnerColumns(gateway))
    const written = await trx
      .updateTable('gateway')
      .set({
        ...toColumns(capabilities),
        // The id rather than a flag: a node of an earlier version stores the next socket without it.
        media_socket: capabilities.takesMedia ? socketId : null,
        ...(isFirst && { welcomed_at: sql`now()` }),
      })
      .where('id', '=', gateway.id)
      .where('socket', '=', socketId)
      .returning(setSocket(socketId))
      .executeTakeFirst()
    if (!written) return false
    if (isFirst) await connectFirst(ports, trx, { gateway, capabilities })
    const connections = await trx
      .selectFrom('connection')
      .select(['id', 'provider'])
      .where('gateway_id', '=', gateway.id)
      .orderBy('id')
      .execute()
    for (const connection of connections) {
      const { snapshot } = ports.catalog
      await replaceServedModels(trx, connection, { snapshot, served: capabilities.models })
    }
    await markOnline(trx, [gateway.id])
    return true
  })

const toColumns = ({ version, providers, models, tools }: Capabilities) => ({
  status: 'online' as const,
  version,
  providers: JSON.stringify(providers),
  models: JSON.stringify(models),
  tools: JSON.stringify(tools),
  last_heartbeat_at: sql<Date>`now()`,
})

/**
 * Creates the connection of a gateway that comes online for the first time; where there is no room, the owner is
 * notified.
 */
async function connectFirst(
  { connect }: StorePorts,
  trx: Transaction<Schema>,
  { gateway, capabilities }: { gateway: GatewayIdentity; capabilities: Capabilities },
): Promise<void> {
  for (const provider of capabilities.providers) {
    try {
      await connect(trx, gateway, provider)
    } catch (thrown) {
      if (!(thrown instanceof Error)) throw thrown
      const reason = `No connection was created for it: ${thrown.message}`
      capabilities.refused.push({ what: 'provider', name: provider, reason })
      // After any failure but our own refusal, the transaction is no longer usable.
      if (Reflect.get(thrown, 'code') !== 'invalid_request') throw thrown
    }
  }
}

/** Returns the owner of a gateway as the columns of its rows. */
export const toOwnerColumns = ({ userId, organizationId }: GatewayIdentity) => ({
  user_id: userId,
  organization_id: organizationId,
})

async function recordHeartbeats(
  db: Kysely<Schema>,
  links: readonly TunnelConnection[],
): Promise<ReadonlySet<string>> {
  if (links.length === 0) return new Set()
  const nowMs = performance.now()
  const ids = links.map(({ gateway }) => gateway.id)
  const sockets = links.map(({ socketId }) => socketId)
  const ages = links.map(({ lastFrameAtMs }) => Math.round(nowMs - lastFrameAtMs))
  const { rows } = await sql<Pick<GatewayRow, 'socket'>>`
    update gateway set last_heartbeat_at = now() - make_interval(secs => beat.age_ms / 1000.0)
    from unnest(${ids}::text[], ${sockets}::text[], ${ages}::bigint[]) as beat (id, socket, age_ms)
    where gateway.id = beat.id and gateway.socket = beat.socket and ${isOwned}
    returning gateway.socket`.execute(db)
  await markOnline(db, ids)
  return new Set(rows.flatMap(({ socket }) => socket ?? []))
}
