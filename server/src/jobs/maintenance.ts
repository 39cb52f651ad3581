import type { Logger } from 'pino'
import { runAudit, type AuditRun } from './audit-job'
import { purgeEnded } from './purge-ended'
import { purgeNotices } from './purge-notices'
import { recountStorage } from './recount-storage'
import { addPartitions, type PartitionDependencies } from '../booking/partitions'
import { purgeOldRows } from '../ledger/retention'
import { runExclusively } from '../platform/db/advisory-lock'
import { Periodic } from '../platform/periodic'
import { purgeOldLogs } from '../request-logs/retention'

const auditBudgetMs = 5000
const purgeEveryMs = 3_600_000
/** The delay of the first purge, so that the work after a start is done before. */
const firstPurgeMs = 60_000

interface Dependencies extends PartitionDependencies {
  auditEveryMs: number
  retentionDays: () => number
  /** Called after each audit with the number of violations. */
  onAudited: (violations: number) => void
}

/**
 * The audit of the ledger, and each hour the purge of old rows, on one node at a time. They run one after the other,
 * as each holds a connection for its lock while it uses another.
 */
export function createMaintenance(dependencies: Dependencies): Periodic {
  const { auditEveryMs, log } = dependencies
  let purgeAtMs = performance.now() + firstPurgeMs
  const job: Periodic = new Periodic({
    intervalMs: auditEveryMs,
    run: async () => {
      await audit(dependencies).catch((err: unknown) => {
        // Errors of a query that a shutdown interrupts are not logged.
        if (!job.isStopped) log.error({ err }, 'the audit could not run')
      })
      if (job.isStopped || performance.now() < purgeAtMs) return
      purgeAtMs = performance.now() + purgeEveryMs
      await purge(dependencies)
    },
    onError: (err) => log.warn({ err }, 'old rows could not be purged yet'),
  })
  return job
}

async function audit({ storage, auditEveryMs, log, onAudited }: Dependencies): Promise<void> {
  const run = await runAudit({
    db: storage.database.query,
    nowMs: () => performance.now(),
    budgetMs: auditBudgetMs,
    everyMs: auditEveryMs,
    onFailure: (check, err) => log.error({ err, check }, 'a check of the audit failed to run'),
  })
  if (!run) return
  onAudited(run.violations.length)
  logRun(run, log)
}

function logRun({ violations, blocked, lifted }: AuditRun, log: Logger): void {
  for (const { expected, found, message, ...violation } of violations) {
    // The log is JSON, which has no bigint.
    const amounts = { expected: String(expected), found: String(found) }
    log.error({ ...violation, ...amounts }, `the ledger is not in order: ${message}`)
  }
  for (const accountId of blocked) log.error({ accountId }, 'the account is blocked')
  for (const accountId of lifted) log.info({ accountId }, 'the account is in order and unblocked')
}

async function purge(dependencies: Dependencies): Promise<void> {
  const { storage, log, retentionDays } = dependencies
  const { query } = storage.database
  await runExclusively(query, 'upkeep', async () => {
    await addPartitions(dependencies)
    const days = retentionDays()
    const usage = await purgeOldRows(query, days)
    if (usage.partitions.length > 0) log.info(usage, 'old usage was purged')
    const logs = await purgeOldLogs(query, days)
    if (logs.partitions.length > 0) log.info(logs, 'old request logs were purged')
    await purgeNotices(query)
    await purgeEnded(query, days)
    await recountStorage(query, log)
  })
}
