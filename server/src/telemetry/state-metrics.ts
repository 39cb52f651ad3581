import type { LogExportFigures } from './metrics-snapshot'
import { one, usd, yes, type Metric, type PlainMetric, type MetricsSource } from './metric'

type Read = (source: MetricsSource) => number

const gauge = (name: string, help: string, read: Read): PlainMetric => ({
  name,
  type: 'gauge',
  help,
  labels: [],
  samples: (source) => one(read(source)),
})

const counter = (name: string, help: string, read: Read): PlainMetric => ({
  ...gauge(name, help, read),
  type: 'counter',
})

/** Metrics of the node's part in the ledger. */
const moneyMetrics: readonly Metric[] = [
  gauge(
    'tollgate_leases',
    'Leases of this node: parts of balances that it has reserved.',
    money('leases'),
  ),
  {
    name: 'tollgate_lease_usd',
    type: 'gauge',
    help: 'Sum of these leases: amount = spent + held + free.',
    labels: ['part'],
    samples: ({ figures: { money: sum } }) =>
      Object.entries({
        amount: sum.amount,
        spent: sum.spent,
        held: sum.heldAmount,
        free: sum.amount - sum.spent - sum.heldAmount,
      }).map(([part, value]) => ({ labels: { part }, value: usd(value) })),
  },
  gauge('tollgate_holds', 'Maximum costs held for running attempts.', money('holds')),
  gauge('tollgate_journal_running', 'Running attempts in the journal.', journal('running')),
  gauge('tollgate_journal_depth', 'Usage events that are not booked yet.', journal('waiting')),
  gauge(
    'tollgate_journal_oldest_seconds',
    'Age of the oldest usage event that is not booked.',
    ({ figures }) => figures.money.journal.oldestMs / 1000,
  ),
  gauge(
    'tollgate_booking_behind',
    '1 while the last attempt to book usage failed.',
    ({ figures }) => yes(figures.money.journal.isBehind),
  ),
  gauge(
    'tollgate_orphans',
    'Attempts of dead processes that are not settled yet.',
    journal('orphaned'),
  ),
  gauge(
    'tollgate_orphans_found',
    'Attempts that an earlier process had left open when this one started.',
    journal('orphansFound'),
  ),
  counter('tollgate_audit_runs_total', 'Audits of the ledger by this node.', (s) => s.audits.runs),
  gauge(
    'tollgate_audit_violations',
    'Violations that the last audit found.',
    (source) => source.audits.violations,
  ),
]

function money(field: 'leases' | 'holds'): Read {
  return ({ figures }) => figures.money[field]
}

function journal(field: 'running' | 'waiting' | 'orphaned' | 'orphansFound'): Read {
  return ({ figures }) => figures.money.journal[field]
}

type RelayedField = 'activeCalls' | 'served' | 'totalCalls' | 'servedTotal'

/** Absent where nodes share no Redis. */
function relayed(outbound: RelayedField, served: RelayedField): PlainMetric['samples'] {
  return ({ figures: { relayed: calls } }) =>
    calls
      ? [
          { labels: { role: 'asked' }, value: calls[outbound] },
          { labels: { role: 'served' }, value: calls[served] },
        ]
      : []
}

/** Reads the export of request logs; absent where there is none. */
const logExport =
  (read: (figures: LogExportFigures) => number): PlainMetric['samples'] =>
  ({ figures }) =>
    figures.logExport ? one(read(figures.logExport)) : []

const exportGauge = (
  name: string,
  help: string,
  read: (figures: LogExportFigures) => number,
): PlainMetric => ({ name, type: 'gauge', help, labels: [], samples: logExport(read) })

/** Metrics of the export of request logs. */
const exportMetrics: readonly Metric[] = [
  exportGauge(
    'tollgate_log_export_waiting',
    'Request logs and bodies that are not exported yet, at most a million; the same on all nodes.',
    ({ waiting }) => waiting,
  ),
  exportGauge(
    'tollgate_log_export_oldest_seconds',
    'Age of the oldest of them.',
    ({ oldestSeconds }) => oldestSeconds,
  ),
  exportGauge(
    'tollgate_log_store_up',
    '1 while ClickHouse answers this node; absent without CLICKHOUSE_URL, as all of these are.',
    ({ isAway }) => yes(!isAway),
  ),
  {
    name: 'tollgate_log_export_total',
    type: 'counter',
    help: 'Request logs and bodies that this node exported, and those that ClickHouse rejected.',
    labels: ['outcome'],
    samples: ({ figures: { logExport: sum } }) =>
      sum
        ? [
            { labels: { outcome: 'ok' }, value: sum.exported },
            { labels: { outcome: 'rejected' }, value: sum.rejected },
          ]
        : [],
  },
  {
    ...exportGauge(
      'tollgate_log_export_failures_total',
      'Runs of the export that failed on this node; what they sent is sent again.',
      ({ failures }) => failures,
    ),
    type: 'counter',
  },
]

/** Metrics of forms with files. */
const uploadMetrics: readonly Metric[] = [
  gauge('tollgate_running_uploads', 'Forms with files that are arriving.', uploads('arriving')),
  {
    name: 'tollgate_uploads_total',
    type: 'counter',
    help: 'Forms with files that arrived whole, and those that were rejected or broke off.',
    labels: ['outcome'],
    samples: ({ figures }) => [
      { labels: { outcome: 'ok' }, value: figures.load.uploads.received },
      { labels: { outcome: 'rejected' }, value: figures.load.uploads.rejected },
    ],
  },
  counter('tollgate_upload_bytes_total', 'Bytes of all of these forms.', uploads('bytes')),
]

function uploads(field: 'arriving' | 'bytes'): Read {
  return ({ figures }) => figures.load.uploads[field]
}

/** Metrics of the process. */
const processMetrics: readonly Metric[] = [
  {
    name: 'tollgate_breakers',
    type: 'gauge',
    help: 'Failing models on connections: open for all accounts, troubled, or open for one account each.',
    labels: ['provider', 'state'],
    samples: ({ figures }) =>
      figures.breakers.flatMap(({ provider, open, troubled, accounts }) => [
        { labels: { provider, state: 'open' }, value: open },
        { labels: { provider, state: 'troubled' }, value: troubled },
        { labels: { provider, state: 'open_for_account' }, value: accounts },
      ]),
  },
  gauge('tollgate_running_requests', 'Running model requests.', (s) => s.figures.running),
  gauge('tollgate_open_streams', 'Streams that are open to clients.', (s) => s.figures.streams),
  {
    name: 'tollgate_shed_total',
    type: 'counter',
    help: 'Requests rejected by overload protection, by reason.',
    labels: ['reason'],
    samples: ({ figures }) =>
      Object.entries(figures.load.shed).map(([reason, value]) => ({ labels: { reason }, value })),
  },
  gauge(
    'tollgate_large_body_bytes',
    'Bytes of large bodies that were not sent on yet.',
    (source) => source.figures.load.bodyBytes,
  ),
  gauge(
    'tollgate_drains',
    'Answers that are read for their usage after their clients disconnected.',
    (source) => source.figures.drains,
  ),
  {
    name: 'tollgate_cache_entries',
    type: 'gauge',
    help: 'Entries in memory, by cache.',
    labels: ['cache'],
    samples: ({ figures }) =>
      Object.entries(figures.caches).map(([cache, value]) => ({ labels: { cache }, value })),
  },
  {
    name: 'tollgate_database_connections',
    type: 'gauge',
    help: 'Connections of the pool: total includes idle; limit is the maximum.',
    labels: ['state'],
    samples: ({ figures: { database } }) =>
      Object.entries({ total: database.total, idle: database.idle, limit: database.max }).map(
        ([state, value]) => ({ labels: { state }, value }),
      ),
  },
  gauge(
    'tollgate_database_waiting',
    'Statements that wait for a connection.',
    (source) => source.figures.database.waiting,
  ),
  {
    name: 'tollgate_redis_up',
    type: 'gauge',
    help: '1 while limits are shared over Redis, 0 while it is unavailable; absent without REDIS_URL.',
    labels: [],
    samples: ({ figures: { redis } }) => (redis === 'none' ? [] : one(yes(redis === 'reachable'))),
  },
  {
    name: 'tollgate_limit_store_up',
    type: 'gauge',
    help: '1 while nodes share limits through this store, 0 while it is unavailable; absent where one process counts alone.',
    labels: ['store'],
    samples: ({ figures: { limitStore } }) =>
      limitStore ? [{ labels: { store: limitStore.name }, value: yes(limitStore.isUp) }] : [],
  },
  {
    name: 'tollgate_limit_assumed_units_total',
    type: 'counter',
    help: 'Units of shared limits that this process took without the store, which did not answer in time: by so much a limit may be exceeded.',
    labels: ['store'],
    samples: ({ figures: { limitStore } }) =>
      limitStore ? [{ labels: { store: limitStore.name }, value: limitStore.assumedUnits }] : [],
  },
  {
    name: 'tollgate_relayed_gateway_calls',
    type: 'gauge',
    help: 'Running calls of self-hosted gateways across nodes: sent by this node, or served by it.',
    labels: ['role'],
    samples: relayed('activeCalls', 'served'),
  },
  {
    name: 'tollgate_relayed_gateway_calls_total',
    type: 'counter',
    help: 'Calls of self-hosted gateways across nodes since the start.',
    labels: ['role'],
    samples: relayed('totalCalls', 'servedTotal'),
  },
  gauge('tollgate_stopping', '1 once the process accepts no new requests.', (source) =>
    yes(source.figures.isStopping),
  ),
  counter(
    'tollgate_log_lines_dropped_total',
    'Log lines that could not be written to standard output: its disk is full, or its reader has gone or is slow.',
    (source) => source.figures.droppedLogLines,
  ),
  {
    name: 'tollgate_event_loop_delay_seconds',
    type: 'gauge',
    help: 'Delay of the event loop since the last scrape.',
    labels: ['percentile'],
    samples: ({ process: { loopDelay } }) =>
      loopDelay.map(({ percentile, seconds }) => ({ labels: { percentile }, value: seconds })),
  },
  gauge('process_resident_memory_bytes', 'Resident memory.', (s) => s.process.residentBytes),
  gauge('tollgate_heap_bytes', 'Memory of live objects.', (s) => s.process.heapBytes),
  counter('process_cpu_seconds_total', 'Processor time.', (s) => s.process.cpuSeconds),
  gauge(
    'process_start_time_seconds',
    'Start, in seconds since the epoch.',
    (s) => s.process.startedAt,
  ),
  {
    name: 'tollgate_build_info',
    type: 'gauge',
    help: 'Always 1; the version, its commit and the runtime.',
    labels: ['version', 'commit', 'bun'],
    samples: ({ version, commit }) => [
      { labels: { version, commit: commit ?? '', bun: Bun.version }, value: 1 },
    ],
  },
]

export const stateMetrics: readonly Metric[] = [
  ...moneyMetrics,
  ...exportMetrics,
  ...uploadMetrics,
  ...processMetrics,
]
