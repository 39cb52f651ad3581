import type { Logger } from 'pino'
import type { Money } from './money'
import type { Storage } from './storage'
import { readBuild } from './build'
import { createLedgerAuditStore } from '../api/operator/system/ledger-audit'
import { createSystemStore, type OwnState } from '../api/operator/system/store'
import type { Counters } from '../limits/counters'
import { SlicedCounters } from '../limits/slices/sliced-counters'
import type { FailingCandidate } from '../routing/breakers'
import type { Resilience } from '../routing/resilience'
import type { MetricsSnapshot } from '../telemetry/metrics-snapshot'
import type { LiveSettings } from '../platform/settings/live-settings'

interface Dependencies {
  money: Pick<Money, 'nodeId' | 'unbooked'>
  counters: Counters
  resilience: Pick<Resilience, 'listFailing'>
}

/** Returns the state of this process. */
export const ownState = ({ money, counters, resilience }: Dependencies): OwnState => ({
  nodeId: money.nodeId,
  journal: money.unbooked(),
  redis: redisState(counters),
  failing: resilience.listFailing().map(toPublicState),
})

/** The state of the Redis that nodes share limits through. */
export function redisState(counters: Counters): OwnState['redis'] {
  const store = limitStoreState(counters)
  if (store?.name !== 'redis') return 'none'
  return store.isUp ? 'reachable' : 'lost'
}

/** The store that nodes share limits through; undefined where this process counts alone. */
export const limitStoreState = (counters: Counters): MetricsSnapshot['limitStore'] =>
  counters instanceof SlicedCounters
    ? {
        name: counters.store.kind,
        isUp: !counters.store.isAway,
        assumedUnits: counters.assumedUnits,
      }
    : undefined

const toPublicState = ({ candidate, inARow, isOpen, waitMs, openAccounts }: FailingCandidate) => ({
  provider: candidate.provider.key,
  model: candidate.model.id,
  connectionId: candidate.connection.id,
  connectionName: candidate.connection.name,
  owner: candidate.connection.owner,
  failuresInARow: inARow,
  isOpen,
  waitMs,
  openAccounts,
})

interface StoreDependencies {
  storage: Storage
  settings: LiveSettings
  log: Logger
}

/** Creates the stores of the installation's status. */
export const createSystemStores = (
  { storage, settings, log }: StoreDependencies,
  own: () => OwnState,
) => ({
  system: createSystemStore({ db: storage.database.query, build: readBuild(), own }),
  ledgerAudit: createLedgerAuditStore({
    db: storage.database.query,
    maxRequestMs: () => {
      const { requestMs, streamMs } = settings.current.timers
      return Math.max(requestMs, streamMs)
    },
    onFailure: (check, err) =>
      log.warn({ err, check }, 'a check of the audit that an operator requested failed to run'),
  }),
})
