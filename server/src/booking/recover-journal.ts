import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { withLog, type BookingStorage } from './book-usage'
import type { CrashAt } from '../platform/crash-points'
import { endLeases, findLeases } from '../ledger/end-leases'
import { findEarlierStarts, deleteNode, type LedgerNode } from '../ledger/node'
import { toOrphanRecord } from '../ledger/usage-record'
import { toOrphanLog } from '../request-logs/log-record'
import { findSelfHosted } from '../request-logs/self-hosted-connections'
import type { Flusher } from './flusher'
import type { Journal } from '../journal/journal'

/** The longest that a start waits for the recovery of an earlier one; the rest is booked while it serves. */
export const replayPatienceMs = 5000

/** Identifies a directory of this machine: equal for every start on it, different for a copy of it elsewhere. */
export async function placeOf(dataDir: string): Promise<string> {
  const { dev, ino } = await stat(dataDir)
  return createHash('sha256').update(`${hostname()} ${dataDir} ${dev} ${ino}`).digest('hex')
}

interface Parts {
  storage: Pick<BookingStorage, 'database'>
  log: Logger
  crashAt: CrashAt | undefined
  /** The node that recovers, and its place. */
  node: LedgerNode
  journal: Journal
  flusher: Flusher
}

/**
 * Recovers what earlier starts on this directory left: books their journal, turns open attempts into orphans, then
 * frees the unspent part of their leases. Waits for at most `replayPatienceMs`.
 */
export async function recover(parts: Parts): Promise<void> {
  const replayed = replay(parts).catch((err: unknown) => {
    parts.log.error({ err }, 'what an earlier start left could not be booked yet')
  })
  await Promise.race([replayed, Bun.sleep(replayPatienceMs)])
}

/** Recovers as `recover` does, however long it takes. Rejects if the ledger or the disk fails. */
export async function replay(parts: Parts): Promise<void> {
  const { storage, log, crashAt, node, journal, flusher } = parts
  const { query } = storage.database
  const orphans = journal.orphans()
  const selfHosted = await findSelfHosted(
    query,
    orphans.map(({ body }) => body),
  )
  for (const { attemptId, body } of orphans) {
    log.warn({ attemptId }, 'an attempt was open when its process died')
    await journal.settle(attemptId, withLog(toOrphanRecord(body), toOrphanLog(body, selfHosted)))
    crashAt?.('replay-mid')
  }
  await flusher.drain()
  for (const earlier of await findEarlierStarts(query, node)) {
    const ended = await endLeases(query, await findLeases(query, earlier), 'closed')
    crashAt?.('replay-mid')
    log.info({ leases: ended.length }, 'leases of an earlier start were freed')
    await deleteNode(query, earlier)
  }
}
