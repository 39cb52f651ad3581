import type { Logger } from 'pino'
import type { Counters } from '../limits/counters'
import { MemoryCounters } from '../limits/memory-counters'
import { nextNodeName } from '../limits/slices/node-name'
import { PostgresSliceStore, recallChannel } from '../limits/slices/postgres-slice-store'
import type { Recall, SliceStore } from '../limits/slices/slice-store'
import { SlicedCounters } from '../limits/slices/sliced-counters'
import { toRecall } from '../limits/slices/stored-slices'
import type { Config } from '../platform/config/config'
import type { Database } from '../platform/db/database'
import type { Subscriptions } from '../platform/db/listener'

interface Dependencies {
  config: Config
  storage: { database: Database; dataDir: string }
  log: Logger
}

/** The counters of limits, and the notifications that they need. */
interface LimitCounters {
  counters: Counters
  subscriptions: Subscriptions
}

/**
 * Creates the counters of limits: for all nodes that share a Redis, for workers and, where it is configured, nodes that
 * share a PostgreSQL; else for this process alone.
 */
export async function createCounters(
  { config, storage, log }: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<LimitCounters> {
  const { redisUrl, limitStore, worker } = config
  if (redisUrl === undefined && limitStore === 'memory' && worker === undefined) {
    return { counters: new MemoryCounters(), subscriptions: {} }
  }
  const name = redisUrl === undefined ? 'PostgreSQL' : 'Redis'
  const events = {
    onRecall: (recall: Recall) => counters.onRecall(recall),
    onError: (err: Error) =>
      log.warn(
        { err },
        `${name} is unavailable: this node continues with its slices of the limits`,
      ),
    onBack: () => {
      log.info(`${name} is available again: limits are shared`)
      void counters.start()
    },
  }
  const store = disposables.use(await createStore(redisUrl, storage.database, events))
  const counters = disposables.use(new SlicedCounters({ store, ...nextNodeName(storage.dataDir) }))
  const onNotification = (payload: string) => {
    const recall = toRecall(payload)
    if (recall) counters.onRecall(recall)
  }
  return {
    counters,
    subscriptions: redisUrl === undefined ? { [recallChannel]: onNotification } : {},
  }
}

interface StoreEvents {
  onRecall: (recall: Recall) => void
  onError: (error: Error) => void
  onBack: () => void
}

/** Creates the store of slices, in Redis where there is one; its client, which takes 4 MB, is loaded with it. */
async function createStore(
  redisUrl: string | undefined,
  database: Database,
  events: StoreEvents,
): Promise<SliceStore & (Disposable | AsyncDisposable)> {
  if (redisUrl === undefined) return new PostgresSliceStore({ database, ...events })
  const { RedisSliceStore } = await import('../limits/slices/redis-slice-store')
  return new RedisSliceStore({ url: redisUrl, ...events })
}
