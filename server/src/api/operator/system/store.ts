import { sql, type Kysely } from 'kysely'
import { measureOutbox } from '../../../audit-log/delivery/outbox'
import type { Schema } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { aliveSeconds } from '../../../ledger/node'
import { withTimeout } from '../../../platform/with-timeout'

/** A model on a connection that has just failed. */
export interface FailingRoute {
  provider: string
  model: string
  connectionId: string
  connectionName: string
  /** The account that owns it; null for the platform's. */
  owner: string | null
  failuresInARow: number
  /** Its circuit breaker is open for all accounts, or half-open. */
  isOpen: boolean
  /** The time until the breaker lets an attempt through, in milliseconds. */
  waitMs: number
  /** The number of accounts whose own breaker for it is open. */
  openAccounts: number
}

/** The state of this process. */
export interface OwnState {
  nodeId: string
  /** Usage events on this node's disk that are not booked in the ledger. */
  journal: { waiting: number; isBehind: boolean }
  redis: 'none' | 'reachable' | 'lost'
  failing: readonly FailingRoute[]
}

interface Ports {
  db: Kysely<Schema>
  build: { version: string; commit: string | null }
  own: () => OwnState
}

const timeoutMs = 3000
/** The most rows shown to an operator. */
const maxNodes = 100

export type SystemStore = ReturnType<typeof createSystemStore>

/**
 * Reads the state of this process and its database. Values from the database are null where it does not answer
 * within three seconds; never rejects for that.
 */
export const createSystemStore = (ports: Ports) => ({
  async read() {
    const [database, nodes, jobs, usage, audit_delivery] = await Promise.all([
      lookAtDatabase(ports.db),
      auditSummary(readNodes(ports)),
      auditSummary(readJobs(ports.db)),
      auditSummary(readUsage(ports.db)),
      auditSummary(readAuditDelivery(ports.db)),
    ])
    return { ...ownState(ports), database, nodes, jobs, usage, audit_delivery }
  },
})

/** Resolves with null after the timeout. */
const auditSummary = <Value>(summary: Promise<Value>): Promise<Value | null> =>
  withTimeout(summary, timeoutMs).catch(() => null)

function ownState({ build: { version, commit }, own }: Ports) {
  const { nodeId, journal, redis, failing } = own()
  const { rss, heapUsed } = process.memoryUsage()
  const uptime = process.uptime()
  return {
    version,
    commit,
    node_id: nodeId,
    started_at: toTimestamp(new Date(Date.now() - uptime * 1000)),
    uptime_seconds: Math.floor(uptime),
    memory: { resident_bytes: rss, heap_bytes: heapUsed },
    journal: { waiting: journal.waiting, is_behind: journal.isBehind },
    redis,
    breakers: {
      total: failing.length,
      failing: failing
        .toSorted((a, b) => Number(b.isOpen) - Number(a.isOpen) || b.openAccounts - a.openAccounts)
        .slice(0, maxNodes)
        .map(toBreaker),
    },
  }
}

const toBreaker = (one: FailingRoute) => ({
  provider: one.provider,
  model: one.model,
  connection_id: one.connectionId,
  connection_name: one.connectionName,
  owner_id: one.owner,
  state: !one.isOpen
    ? ('closed' as const)
    : one.waitMs > 0
      ? ('open' as const)
      : ('half_open' as const),
  failures_in_a_row: one.failuresInARow,
  open_for_accounts: one.openAccounts,
  retry_after_seconds: Math.ceil(one.waitMs / 1000),
})

async function lookAtDatabase(db: Kysely<Schema>) {
  const beganAtMs = performance.now()
  const version = await auditSummary(readVersion(db))
  if (version === null) return { reachable: false, latency_ms: null, version: null }
  const latency = performance.now() - beganAtMs
  return { reachable: true, latency_ms: Math.round(latency * 10) / 10, version }
}

async function readVersion(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select current_setting('server_version') as version`.execute(db)
  return rows[0]?.version ?? ''
}

/** Reads the nodes that take leases, latest first; a dead one stays listed until its leases are freed. */
async function readNodes({ db, own }: Ports) {
  const { rows } = await sql<{
    id: string
    started_at: Date
    seen_at: Date
    alive: boolean
  }>`
    select id, started_at, seen_at,
      seen_at > now() - make_interval(secs => ${aliveSeconds}) as alive
    from node order by started_at desc, id limit ${maxNodes}`.execute(db)
  const { nodeId } = own()
  return rows.map(({ id, started_at: startedAt, seen_at: heartbeatAt, alive }) => ({
    id,
    started_at: toTimestamp(startedAt),
    last_heartbeat_at: toTimestamp(heartbeatAt),
    alive,
    is_this: id === nodeId,
  }))
}

const at = (date: Date | null | undefined) => (date ? toTimestamp(date) : null)

/** Reads the last runs of the jobs that one node does for all, as far as they are recorded. */
async function readJobs(db: Kysely<Schema>) {
  const { rows } = await sql<{ audit: Date | null; round: Date | null; alerts: Date | null }>`
    select nullif(ran_at, '-infinity') as audit, nullif(round_began_at, '-infinity') as round,
      (select nullif(ran_at, '-infinity') from alert_round) as alerts
    from audit`.execute(db)
  const [row] = rows
  return {
    ledger_audit_at: at(row?.audit),
    ledger_audit_round_began_at: at(row?.round),
    alerts_at: at(row?.alerts),
  }
}

/** Counts pending work: attempts of dead processes, and mails. */
async function readUsage(db: Kysely<Schema>) {
  const { rows } = await sql<{ orphans: bigint; old: bigint; mails: bigint }>`
    select count(*) as orphans,
      count(*) filter (where started_at < now() - interval '1 day') as old,
      (select count(*) from mail where sent_at is null and failed_at is null) as mails
    from usage_event where state = 'orphan'`.execute(db)
  const [row] = rows
  return {
    orphans: Number(row?.orphans ?? 0n),
    orphans_older_than_a_day: Number(row?.old ?? 0n),
    mails_waiting: Number(row?.mails ?? 0n),
  }
}

/** Reads what waits for destinations of audit logs. */
async function readAuditDelivery(db: Kysely<Schema>) {
  const { waiting, oldestSeconds, failing } = await measureOutbox(db)
  return {
    entries_waiting: waiting,
    lag_seconds: Math.round(oldestSeconds),
    failing_destinations: failing,
  }
}
