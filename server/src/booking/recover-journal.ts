import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { withLog, type BookingStorage } from './book-usage'
import type { CrashAt } from '../platform/crash-points'
import { endLeases, findLeases } from '../ledger/end-leases'
import { findEarlierStarts, deleteNode, type LedgerNode } from '../ledger/node'
import { deleteEarlierShares } from '../ledger/shares/exchange-shares'
import { toOrphanRecord } from '../ledger/usage-record'
import { toOrphanLog } from '../request-logs/log-record'
import { findSelfHosted } from '../request-logs/self-hosted-connections'
import type { Flusher } from './flusher'
import type { Journal } from '../journal/journal'

/** The maximum time that a start waits for the recovery of an earlier one; the rest is booked while it serves. */
export const maxRecoveryWaitMs = 5000

/** Returns an id of a directory of this machine: equal for every start on it, different for a copy of it elsewhere. */
export async function identifyDirectory(dataDir: string): Promise<string> {
  const { dev, ino } = await stat(dataDir)
  return createHash('sha256').update(`${hostname()} ${dataDir} ${dev} ${ino}`).digest('hex')
}

interface RecoveryDependencies {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
  crashAt: CrashAt | undefined
  /** The node that recovers, and its data directory. */
  node: LedgerNode
  journal: Journal
  flusher: Flusher
}

/**
 * Recovers the usage of earlier starts on this directory: books their journal, turns open attempts into orphans, then
 * frees the unspent part of their leases. Waits for at most `maxRecoveryWaitMs`.
 */
export async function recover(dependencies: RecoveryDependencies): Promise<void> {
  const replayed = replay(dependencies).catch((err: unknown) => {
    dependencies.log.error({ err }, 'the usage of an earlier start could not be booked yet')
  })
  await Promise.race([replayed, Bun.sleep(maxRecoveryWaitMs)])
}

/** Recovers as `recover` does, however long it takes. Rejects if the ledger or the disk fails. */
export async function replay(dependencies: RecoveryDependencies): Promise<void> {
  const { storage, log, crashAt, node, journal, flusher } = dependencies
  const { query } = storage.database
  const orphans = journal.orphans()
  const selfHosted = await findSelfHosted(
    query,
    orphans.map(({ body }) => body),
  )
  for (const { attemptId, body } of orphans) {
    log.warn({ attemptId }, 'an attempt was open when its process terminated')
    await journal.settle(attemptId, withLog(toOrphanRecord(body), toOrphanLog(body, selfHosted)))
    crashAt?.('replay-mid')
  }
  await flusher.drain()
  await deleteEarlierShares(query, node)
  for (const earlier of await findEarlierStarts(query, node)) {
    const ended = await endLeases(query, await findLeases(query, earlier), 'closed')
    crashAt?.('replay-mid')
    log.info({ leases: ended.length }, 'leases of an earlier run were released')
    await deleteNode(query, earlier)
  }
}
