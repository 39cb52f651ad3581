import type { Logger } from 'pino'
import type { Config } from '../platform/config/config'
import { addPartitions, type PartitionParts } from '../booking/partitions'
import { runExclusively } from '../platform/db/advisory-lock'
import { runAudit, type AuditRun } from '../jobs/audit-job'
import { purgeEnded } from '../jobs/purge-ended'
import { purgeNotices } from '../jobs/purge-notices'
import { purgeOldRows } from '../ledger/retention'
import { purgeOldLogs } from '../request-logs/retention'
import type { LiveSettings } from '../platform/settings/live-settings'
import type { AuditCounts } from '../telemetry/audit-counts'

const auditBudgetMs = 5000
const upkeepEveryMs = 3_600_000
/** The delay of the first run, so that the work after a start is done before. */
const firstUpkeepMs = 60_000

interface Parts extends PartitionParts {
  config: Config
  settings: LiveSettings
  audits: Pick<AuditCounts, 'ran'>
}

/**
 * Opens the periodic jobs that run on one node at a time: the audit, and purging old rows. They run one after the
 * other, as each holds a connection for its lock while it uses another.
 */
export function openJobs(parts: Parts): Disposable {
  const { config, log } = parts
  let upkeepAtMs = performance.now() + firstUpkeepMs
  let isRunning = false
  let isClosed = false
  const work = async () => {
    await auditOnce(parts).catch((err: unknown) => {
      // Errors of a query that a shutdown interrupts are not logged.
      if (!isClosed) log.error({ err }, 'the audit could not run')
    })
    if (isClosed || performance.now() < upkeepAtMs) return
    upkeepAtMs = performance.now() + upkeepEveryMs
    await keepTidy(parts).catch((err: unknown) => {
      if (!isClosed) log.warn({ err }, 'old usage could not be forgotten yet')
    })
  }
  const timer = setInterval(() => {
    if (isRunning) return
    isRunning = true
    void work().finally(() => (isRunning = false))
  }, config.auditEveryMs)
  timer.unref()
  return {
    [Symbol.dispose]() {
      isClosed = true
      clearInterval(timer)
    },
  }
}

async function auditOnce({ config, storage, log, audits }: Parts): Promise<void> {
  const run = await runAudit({
    db: storage.database.query,
    nowMs: () => performance.now(),
    budgetMs: auditBudgetMs,
    everyMs: config.auditEveryMs,
    onFailure: (check, err) => log.error({ err, check }, 'a check of the audit could not be made'),
  })
  if (!run) return
  audits.ran(run.violations.length)
  report(run, log)
}

function report({ violations, blocked, lifted }: AuditRun, log: Logger): void {
  for (const { expected, found, words, ...violation } of violations) {
    // The log is JSON, which has no bigint.
    const amounts = { expected: String(expected), found: String(found) }
    log.error({ ...violation, ...amounts }, `the ledger is not in order: ${words}`)
  }
  for (const accountId of blocked) log.error({ accountId }, 'the account gets nothing that costs')
  for (const accountId of lifted)
    log.info({ accountId }, 'the account is in order and served again')
}

async function keepTidy(parts: Parts): Promise<void> {
  const { settings, storage, log } = parts
  const { query } = storage.database
  await runExclusively(query, 'upkeep', async () => {
    await addPartitions(parts)
    const { retentionDays } = settings.current
    const forgotten = await purgeOldRows(query, retentionDays)
    if (forgotten.partitions.length > 0) log.info(forgotten, 'old usage was forgotten')
    const logs = await purgeOldLogs(query, retentionDays)
    if (logs.partitions.length > 0) log.info(logs, 'old request logs were forgotten')
    await purgeNotices(query)
    await purgeEnded(query, retentionDays)
  })
}
