import type { Logger } from 'pino'
import type { Money } from './money'
import type { Storage } from './storage'
import { version } from '../../package.json'
import { createLedgerAuditStore } from '../api/operator/system/ledger-audit'
import { createSystemStore, type OwnState } from '../api/operator/system/store'
import type { Counters } from '../limits/counters'
import { SharedCounters } from '../limits/shared-counters'
import type { FailingCandidate } from '../routing/breakers'
import type { Resilience } from '../routing/resilience'
import type { LiveSettings } from '../platform/settings/live-settings'

interface Parts {
  money: Pick<Money, 'nodeId' | 'unbooked'>
  counters: Counters
  resilience: Pick<Resilience, 'failing'>
}

/** Returns the state of this process. */
export const ownState = ({ money, counters, resilience }: Parts): OwnState => ({
  nodeId: money.nodeId,
  journal: money.unbooked(),
  redis: readOwnState(counters),
  failing: resilience.failing().map(toShown),
})

export function readOwnState(counters: Counters): OwnState['redis'] {
  if (!(counters instanceof SharedCounters)) return 'none'
  return counters.isAway ? 'lost' : 'reachable'
}

const toShown = ({ candidate, inARow, isOpen, waitMs, openAccounts }: FailingCandidate) => ({
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

interface Opened {
  storage: Storage
  settings: LiveSettings
  log: Logger
}

/** Opens the stores of the installation's status. */
export const openSystemStores = ({ storage, settings, log }: Opened, own: () => OwnState) => ({
  system: createSystemStore({ db: storage.database.query, version, own }),
  ledgerAudit: createLedgerAuditStore({
    db: storage.database.query,
    longestRequestMs: () => {
      const { requestMs, streamMs } = settings.current.timers
      return Math.max(requestMs, streamMs)
    },
    onFailure: (check, err) =>
      log.warn({ err, check }, 'a check of the audit that an operator asked for was not made'),
  }),
})
