import type { Logger } from 'pino'
import type { TunnelServices } from './gateways'
import type { Money } from './money'
import type { createRouting } from './routing'
import type { Storage } from './storage'
import type { ApiKeyCache } from '../auth/api-key-cache'
import type { Runs } from '../automation/message-runs'
import { endedChannel as sessionChannel, haltedChannel } from '../automation/sessions'
import type { Catalog } from '../catalog/catalog'
import type { Claims } from '../idempotency/claims'
import { endChannel } from '../idempotency/store'
import { StartError } from '../platform/config/config'
import { Listener, type Subscriptions } from '../platform/db/listener'
import type { LiveSettings } from '../platform/settings/live-settings'

/** Services that cache rows in memory. */
export interface Caches {
  apiKeys: ApiKeyCache
  names: Awaited<ReturnType<typeof createRouting>>
  money: Money
  claims: Claims
  tunnels: TunnelServices
  counters: { subscriptions: Subscriptions }
  catalog: Pick<Catalog, 'refreshSoon'>
  settings: Pick<LiveSettings, 'refresh'>
  runs: Pick<Runs, 'cancel' | 'halt'>
}

/** Listens for changes on other nodes, or by hand, and invalidates cached rows. Throws `StartError`. */
export async function listenForChanges(
  { storage, log, ...caches }: Caches & { storage: Storage; log: Logger },
  disposables: AsyncDisposableStack,
): Promise<void> {
  const listener = disposables.use(
    new Listener({
      connect: () => storage.database.client(),
      subscriptions: subscriptionsOf(caches),
      onGap: () => {
        invalidateAll(caches)
        caches.money.onReconnect()
      },
      onError: (err) => log.warn({ err }, 'the listening connection was lost; reconnecting'),
    }),
  )
  try {
    await listener.start()
    // Covers changes between the first read and the subscription.
    caches.money.onGap()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`The database takes no listening connection: ${why}.`, { cause })
  }
}

const subscriptionsOf = ({
  apiKeys,
  names,
  money,
  claims,
  tunnels,
  counters,
  catalog,
  settings,
  runs,
}: Caches): Subscriptions => ({
  tollgate_key: (hash) => apiKeys.invalidateKey(hash),
  tollgate_user: (userId) => {
    apiKeys.invalidateUser(userId)
    names.invalidate(userId)
    tunnels.sockets.onOwnerChange(userId)
  },
  tollgate_plan: () => {
    apiKeys.invalidateAll()
    // Organizations have plans too.
    names.onGap()
  },
  tollgate_config: () => settings.refresh(),
  tollgate_catalog: () => catalog.refreshSoon(),
  [endChannel]: (name) => claims.ended(name),
  [sessionChannel]: (sessionId) => runs.cancel(sessionId),
  [haltedChannel]: (sessionId) => runs.halt(sessionId),
  ...names.subscriptions,
  ...money.subscriptions,
  ...counters.subscriptions,
  tollgate_owner: (ownerId) => {
    names.invalidate(ownerId)
    tunnels.sockets.onOwnerChange(ownerId)
  },
  tollgate_gateway: (payload) => tunnels.onNotification(payload),
})

/** Invalidates everything that a missed notification may have changed. */
function invalidateAll({
  apiKeys,
  names,
  money,
  claims,
  tunnels,
  catalog,
  settings,
}: Caches): void {
  apiKeys.invalidateAll()
  names.onGap()
  catalog.refreshSoon()
  claims.mayHaveEnded()
  settings.refresh()
  money.onGap()
  tunnels.onGap()
}
