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
  gauge('tollgate_leases', 'Slices of balances that this node has reserved.', money('leases')),
  {
    name: 'tollgate_lease_usd',
    type: 'gauge',
    help: 'The sum of these slices: amount = spent + held + free.',
    labels: ['part'],
    samples: ({ figures: { money: sum } }) =>
      Object.entries({
        amount: sum.amount,
        spent: sum.spent,
        held: sum.held,
        free: sum.amount - sum.spent - sum.held,
      }).map(([part, value]) => ({ labels: { part }, value: usd(value) })),
  },
  gauge('tollgate_holds', 'Worst cases that running attempts hold.', money('holds')),
  gauge('tollgate_journal_running', 'Attempts written down that run.', journal('running')),
  gauge('tollgate_journal_depth', 'Usage events that are not booked yet.', journal('waiting')),
  gauge(
    'tollgate_journal_oldest_seconds',
    'For how long the oldest of these has waited.',
    ({ figures }) => figures.money.journal.oldestMs / 1000,
  ),
  gauge('tollgate_booking_behind', '1 while the last try to book usage failed.', ({ figures }) =>
    yes(figures.money.journal.isBehind),
  ),
  gauge(
    'tollgate_orphans',
    'Attempts whose process died that are not settled yet.',
    journal('orphaned'),
  ),
  gauge(
    'tollgate_orphans_found',
    'Attempts that an earlier process had left open when this one began.',
    journal('orphansFound'),
  ),
  counter('tollgate_audit_runs_total', 'Audits of the ledger by this node.', (s) => s.audits.runs),
  gauge(
    'tollgate_audit_violations',
    'What the last of them found that must not be.',
    (source) => source.audits.violations,
  ),
]

function money(field: 'leases' | 'holds'): Read {
  return ({ figures }) => figures.money[field]
}

function journal(field: 'running' | 'waiting' | 'orphaned' | 'orphansFound'): Read {
  return ({ figures }) => figures.money.journal[field]
}

type RelayedField = 'asked' | 'served' | 'askedTotal' | 'servedTotal'

/** Absent where nodes share no Redis. */
function relayed(asked: RelayedField, served: RelayedField): PlainMetric['samples'] {
  return ({ figures: { relayed: calls } }) =>
    calls
      ? [
          { labels: { role: 'asked' }, value: calls[asked] },
          { labels: { role: 'served' }, value: calls[served] },
        ]
      : []
}

/** Metrics of the process. */
const processMetrics: readonly Metric[] = [
  {
    name: 'tollgate_breakers',
    type: 'gauge',
    help: 'Models on connections that fail: open for all accounts, troubled, or open for one account each.',
    labels: ['provider', 'state'],
    samples: ({ figures }) =>
      figures.breakers.flatMap(({ provider, open, troubled, accounts }) => [
        { labels: { provider, state: 'open' }, value: open },
        { labels: { provider, state: 'troubled' }, value: troubled },
        { labels: { provider, state: 'open_for_account' }, value: accounts },
      ]),
  },
  gauge('tollgate_running_requests', 'Requests to models that run.', (s) => s.figures.running),
  gauge('tollgate_open_streams', 'Streams that are open to callers.', (s) => s.figures.streams),
  {
    name: 'tollgate_shed_total',
    type: 'counter',
    help: 'Requests that were refused as there was too much to do, by what there was too much of.',
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
    'Answers that are read on for their usage after their callers left.',
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
    help: 'Connections of the pool: total = idle + those in use; limit is the most there can be.',
    labels: ['state'],
    samples: ({ figures: { database } }) =>
      Object.entries({ total: database.total, idle: database.idle, limit: database.most }).map(
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
    help: '1 while limits are shared over Redis, 0 while it is away; absent without REDIS_URL.',
    labels: [],
    samples: ({ figures: { redis } }) => (redis === 'none' ? [] : one(yes(redis === 'reachable'))),
  },
  {
    name: 'tollgate_relayed_gateway_calls',
    type: 'gauge',
    help: 'Calls of self-hosted gateways that run over two nodes: asked by this one, or served by it.',
    labels: ['role'],
    samples: relayed('asked', 'served'),
  },
  {
    name: 'tollgate_relayed_gateway_calls_total',
    type: 'counter',
    help: 'The same since the start.',
    labels: ['role'],
    samples: relayed('askedTotal', 'servedTotal'),
  },
  gauge('tollgate_stopping', '1 once the process takes no new requests.', (source) =>
    yes(source.figures.isStopping),
  ),
  {
    name: 'tollgate_event_loop_delay_seconds',
    type: 'gauge',
    help: 'By how much the event loop was late since metrics were last read.',
    labels: ['percentile'],
    samples: ({ process: { loopDelay } }) =>
      loopDelay.map(({ percentile, seconds }) => ({ labels: { percentile }, value: seconds })),
  },
  gauge('process_resident_memory_bytes', 'Resident memory.', (s) => s.process.residentBytes),
  gauge('tollgate_heap_bytes', 'Memory of live objects.', (s) => s.process.heapBytes),
  counter('process_cpu_seconds_total', 'Processor time.', (s) => s.process.cpuSeconds),
  gauge('process_start_time_seconds', 'Start, since the epoch.', (s) => s.process.startedAt),
  {
    name: 'tollgate_build_info',
    type: 'gauge',
    help: 'Always 1; the version and the runtime it is.',
    labels: ['version', 'bun'],
    samples: ({ version }) => [{ labels: { version, bun: Bun.version }, value: 1 }],
  },
]

export const stateMetrics: readonly Metric[] = [...moneyMetrics, ...processMetrics]
