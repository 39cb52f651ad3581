import type { Kysely } from 'kysely'
import { runExclusively } from '../../../platform/db/advisory-lock'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { checkNames, count, lookForWarnings, runCheck, type Violation } from '../../../ledger/audit'
import { checks, type CheckName } from '../../../ledger/audit-queries'
import { toUsd, toUsdOrNull } from '../../../wire/usd'
import { withTimeout } from '../../../platform/with-timeout'

interface Ports {
  db: Kysely<Schema>
  /** The maximum duration of a request: its lease is in use for as long. */
  maxRequestMs: () => number
  /** Called for a check that failed to run. */
  onFailure: (check: string, error: unknown) => void
  /** Monotonic milliseconds. */
  nowMs?: () => number
}

/** Browsers wait at most half a minute. */
const deadlineMs = 25_000
const keepMs = 60_000
/** The most findings shown of one check: a fault that affects every account need not be listed in full. */
const maxListed = 100

export type LedgerAuditReport = Awaited<ReturnType<typeof makeReport>>
export type LedgerAuditStore = ReturnType<typeof createLedgerAuditStore>

/**
 * Audits the whole ledger, for operators. One audit at a time in all processes, and its report is cached for a
 * minute, also for concurrent requests. Rejects with `gateway_unavailable` while another process runs one.
 */
export function createLedgerAuditStore(ports: Ports) {
  const nowMs = ports.nowMs ?? (() => performance.now())
  let cached: { report: LedgerAuditReport; endsAtMs: number } | undefined
  let running: Promise<LedgerAuditReport> | undefined

  async function make(): Promise<LedgerAuditReport> {
    const report = await runExclusively(ports.db, 'report', () => makeReport(ports, nowMs))
    if (report) {
      cached = { report, endsAtMs: nowMs() + keepMs }
      return report
    }
    throw new ApiError('gateway_unavailable', {
      message: 'Another node is auditing the ledger. Retry when it has finished.',
      retryAfterSeconds: 5,
    })
  }

  return {
    run(): Promise<LedgerAuditReport> {
      if (cached && nowMs() < cached.endsAtMs) return Promise.resolve(cached.report)
      running ??= make().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

/** Whether a check found violations, and whether it finished in time. */
type Outcome = 'in_order' | 'violations' | 'not_finished'

async function makeReport({ db, maxRequestMs, onFailure }: Ports, nowMs: () => number) {
  const beganAtMs = nowMs()
  const remainingMs = () => beganAtMs + deadlineMs - nowMs()
  const runInTime = async <Value>(name: string, work: () => Promise<Value>) => {
    if (remainingMs() <= 0) return undefined
    try {
      return await withTimeout(work(), remainingMs())
    } catch (error) {
      onFailure(name, error)
      return undefined
    }
  }
  const results: ReturnType<typeof toResult>[] = []
  for (const check of checkNames) {
    const violations = await runInTime(check, () => runCheck(db, check, {}))
    results.push(toResult(check, violations))
  }
  const warnings = await runInTime('warnings', () => lookForWarnings(db, maxRequestMs()))
  const counts = await runInTime('counts', () => count(db))
  return {
    ran_at: toTimestamp(new Date()),
    took_ms: Math.round(nowMs() - beganAtMs),
    outcome: overall(results.map(({ outcome }) => outcome)),
    checks: results,
    warnings: warnings ? toWarnings(warnings) : null,
    checked: counts ? toChecked(counts) : null,
  }
}

const overall = (outcomes: readonly Outcome[]): Outcome =>
  (['violations', 'not_finished'] as const).find((one) => outcomes.includes(one)) ?? 'in_order'

function toResult(check: CheckName, violations: readonly Violation[] | undefined) {
  const { invariant, message } = checks[check]
  const outcome: Outcome = violations
    ? violations.length > 0
      ? 'violations'
      : 'in_order'
    : 'not_finished'
  return {
    check,
    invariant,
    // Explains a violation.
    violation: message,
    outcome,
    findings_total: violations?.length ?? 0,
    findings: (violations ?? []).slice(0, maxListed).map(toFinding),
  }
}

/** The difference by itself, as a number loses the last digits of a large amount. */
const toFinding = ({ accountId, ref, expected, found }: Violation) => ({
  account_id: accountId,
  ref,
  expected: toUsdOrNull(expected),
  found: toUsdOrNull(found),
  difference: expected === null || found === null ? null : toUsd(found - expected),
})

const toWarnings = ({ idle, orphans }: Awaited<ReturnType<typeof lookForWarnings>>) => ({
  idle_leases_total: idle.length,
  idle_leases: idle.slice(0, maxListed).map(({ leaseId, accountId, unspent }) => ({
    lease_id: leaseId,
    account_id: accountId,
    unspent: toUsd(unspent),
  })),
  unresolved_orphans: Number(orphans),
})

const toChecked = ({ writtenOff, ...counts }: Awaited<ReturnType<typeof count>>) => ({
  accounts: Number(counts.accounts),
  transactions: Number(counts.transactions),
  entries: Number(counts.entries),
  leases: Number(counts.leases),
  events: Number(counts.events),
  written_off: toUsd(writtenOff),
})
