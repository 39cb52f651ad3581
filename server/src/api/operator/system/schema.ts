import { z } from 'zod'

const time = z.iso.datetime()
const usd = z.number().nullable()
const outcome = z.enum(['in_order', 'violations', 'not_finished'])

const Breaker = z.object({
  provider: z.string(),
  model: z.string(),
  connection_id: z.string(),
  connection_name: z.string(),
  owner_id: z.string().nullable().describe("Null for the platform's."),
  state: z.enum(['closed', 'open', 'half_open']),
  failures_in_a_row: z.int(),
  retry_after_seconds: z.int(),
  open_for_accounts: z.int(),
})

const Node = z.object({
  id: z.string(),
  started_at: time,
  last_heartbeat_at: time,
  alive: z.boolean(),
  is_this: z.boolean(),
})

/** The state of the installation; null for values that the database did not return in time. */
export const System = z
  .object({
    version: z.string(),
    commit: z
      .string()
      .nullable()
      .describe('The commit that this node was built from; null where it is unknown.'),
    node_id: z.string(),
    started_at: time,
    uptime_seconds: z.int(),
    memory: z.object({ resident_bytes: z.int(), heap_bytes: z.int() }),
    journal: z.object({ waiting: z.int(), is_behind: z.boolean() }),
    redis: z.enum(['none', 'reachable', 'lost']),
    breakers: z.object({ total: z.int(), failing: z.array(Breaker) }),
    database: z.object({
      reachable: z.boolean(),
      latency_ms: z.number().nullable(),
      version: z.string().nullable(),
    }),
    nodes: z.array(Node).nullable(),
    jobs: z
      .object({
        ledger_audit_at: time.nullable(),
        ledger_audit_round_began_at: time.nullable(),
        alerts_at: time.nullable(),
      })
      .nullable(),
    usage: z
      .object({
        orphans: z.int(),
        orphans_older_than_a_day: z.int(),
        mails_waiting: z.int(),
      })
      .nullable(),
    audit_delivery: z
      .object({
        entries_waiting: z.int(),
        lag_seconds: z.int().describe('The age of the oldest entry that waits for a destination'),
        failing_destinations: z.int(),
      })
      .nullable(),
  })
  .meta({ ref: 'System' })

const Finding = z.object({
  account_id: z.string().nullable(),
  ref: z.string(),
  expected: usd,
  found: usd,
  difference: usd,
})

const Check = z.object({
  check: z.string(),
  invariant: z.string(),
  violation: z.string().describe('The meaning of a finding, in words.'),
  outcome,
  findings_total: z.int(),
  findings: z.array(Finding).describe('A hundred at most.'),
})

/** A report about the whole ledger; null for checks that did not finish in time. */
export const LedgerAudit = z
  .object({
    ran_at: time,
    took_ms: z.int(),
    outcome,
    checks: z.array(Check),
    warnings: z
      .object({
        idle_leases_total: z.int(),
        idle_leases: z.array(
          z.object({ lease_id: z.string(), account_id: z.string(), unspent: z.number() }),
        ),
        unresolved_orphans: z.int(),
      })
      .nullable(),
    checked: z
      .object({
        accounts: z.int(),
        transactions: z.int(),
        entries: z.int(),
        leases: z.int(),
        events: z.int(),
        written_off: z.number(),
      })
      .nullable(),
  })
  .meta({ ref: 'LedgerAudit' })
