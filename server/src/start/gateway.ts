import type { Logger } from 'pino'
import { openMoney, type Money } from './money'
import type { Storage } from './storage'
import { Keyring } from '../auth/keyring'
import { LastUse, lookUpIn } from '../auth/look-up'
import type { Catalog } from '../catalog/catalog'
import { StartError, type Config } from '../config'
import { Listener } from '../db/listener'
import { Egress } from '../egress/egress'
import { createGateway, type Gateway } from '../gateway'
import { TokenCounter } from '../metering/token-counter'
import { Door } from '../policy/door'
import { FailedAuthentications } from '../policy/failed-authentications'
import { Limits } from '../policy/limits'
import { MemoryCounters } from '../policy/memory-counters'
import type { Deadline } from '../routing/deadline'

interface Parts {
  config: Config
  storage: Storage
  catalog: Catalog
  log: Logger
}

/** The gateway, and what else is made of its parts. */
export interface OpenedGateway {
  gateway: Gateway
  door: Door
  egress: Egress
  /** Ends what still runs. */
  endAll: (reason: Error) => void
}

/** Opens what a request passes: keys, limits, credit, the way out. Throws `StartError`. */
export async function openGateway(
  parts: Parts,
  stack: AsyncDisposableStack,
): Promise<OpenedGateway> {
  const { config, storage, catalog, log } = parts
  const keyring = new Keyring({ lookUp: lookUpIn(storage.database.query) })
  const money = await openMoney(parts, stack)
  await listenForChanges({ ...parts, keyring, money }, stack)
  const egress = new Egress(config.timers.connectMs)
  const { door, limits } = openDoor({ ...parts, keyring }, stack)
  const counter = stack.use(
    new TokenCounter({ onFailure: (err) => log.warn({ err }, 'tokens could not be counted') }),
  )
  const running = new Set<Deadline>()
  const { metering } = money
  const { timers } = config
  return {
    gateway: createGateway({ door, limits, metering, catalog, egress, counter, timers, running }),
    door,
    egress,
    endAll: (reason) => {
      for (const deadline of running) deadline.cancel(reason)
    },
  }
}

/** Who may come in, and how much of it. */
function openDoor(
  { config, storage, keyring, log }: Parts & { keyring: Keyring },
  stack: AsyncDisposableStack,
) {
  const lastUse = stack.use(
    new LastUse(storage.database.query, (err) =>
      log.warn({ err }, 'the last use of keys could not be noted'),
    ),
  )
  const limits = new Limits(new MemoryCounters())
  const failures = new FailedAuthentications({ perMinute: config.failedAuthenticationsPerMinute })
  return { limits, door: new Door({ keyring, failures, limits, lastUse }) }
}

/** Changes made on other nodes, or by hand, reach what is kept in memory here. */
async function listenForChanges(
  { storage, catalog, keyring, money, log }: Parts & { keyring: Keyring; money: Money },
  stack: AsyncDisposableStack,
): Promise<void> {
  const listener = stack.use(
    new Listener({
      connect: () => storage.database.client(),
      subscriptions: {
        tollgate_key: (hash) => keyring.forgetKey(hash),
        tollgate_user: (userId) => keyring.forgetUser(userId),
        tollgate_plan: () => keyring.distrust(),
        tollgate_catalog: () => catalog.refreshSoon(),
        ...money.subscriptions,
      },
      onGap: () => {
        keyring.distrust()
        catalog.refreshSoon()
        money.onGap()
      },
      onError: (err) => log.warn({ err }, 'the listening connection broke; connecting again'),
    }),
  )
  try {
    await listener.start()
    // What changed between its reading and now.
    money.onGap()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`The database takes no listening connection: ${why}.`, { cause })
  }
}
