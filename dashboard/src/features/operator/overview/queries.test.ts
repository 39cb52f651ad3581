import { expect, test } from 'bun:test'
import type { System } from '../system/queries'
import { describeChange, describePayers, listConcerns } from './queries'

const node = { started_at: '', last_heartbeat_at: '', is_this: true }
const healthy: System = {
  version: '1.0.0',
  commit: null,
  node_id: 'node_1',
  started_at: '',
  uptime_seconds: 1,
  memory: { resident_bytes: 1, heap_bytes: 1 },
  journal: { waiting: 3, is_behind: false },
  redis: 'none',
  breakers: { total: 1, failing: [] },
  database: { reachable: true, latency_ms: 1, version: '18' },
  nodes: [{ ...node, id: 'node_1', alive: true }],
  jobs: null,
  usage: { orphans: 1, orphans_older_than_a_day: 0, mails_waiting: 0 },
  audit_delivery: null,
}
const idle = { tickets: 0, quotaRequests: 0 }

const textsOf = (system: System, waiting = idle) =>
  listConcerns(system, waiting).map(({ text }) => text)

test('an installation in order has nothing that needs attention', () => {
  expect(textsOf(healthy)).toEqual([])
})

test('faults are listed before work that waits', () => {
  const broken: System = {
    ...healthy,
    journal: { waiting: 1200, is_behind: true },
    redis: 'lost',
    database: { reachable: false, latency_ms: null, version: null },
    nodes: [{ ...node, id: 'node_2', alive: false }],
    usage: { orphans: 5, orphans_older_than_a_day: 2, mails_waiting: 0 },
    breakers: {
      total: 1,
      failing: [
        {
          provider: 'openai',
          model: 'gpt-4o',
          connection_id: 'conn_1',
          connection_name: 'Main',
          owner_id: null,
          state: 'open',
          failures_in_a_row: 5,
          retry_after_seconds: 3,
          open_for_accounts: 0,
        },
      ],
    },
  }
  expect(textsOf(broken, { tickets: 1, quotaRequests: 2 })).toEqual([
    'The database is unreachable',
    '1,200 usage events could not be booked yet',
    'Redis is unreachable',
    '1 node without a heartbeat',
    'openai/gpt-4o: the circuit breaker is open',
    '2 attempts unresolved for more than a day',
    '1 open ticket',
    '2 quota requests to decide',
  ])
})

test.each([
  [12, 10, '20% more than in the period before'],
  [9, 10, '10% less than in the period before'],
  [1000, 1001, 'As in the period before'],
  [5, 0, 'None in the period before'],
  [0, 0, 'None in the period before either'],
])('%d after %d is described: %s', (now, before, text) => {
  expect(describeChange(now, before)).toBe(text)
})

test('payers are described where others than the accounts paid', () => {
  const own = { personal: 5, organization: 0, operator: 0, written_off: 0 }
  expect(describePayers(own)).toBe("From the accounts' own credits")
  expect(describePayers({ ...own, organization: 2, written_off: 1 })).toBe(
    '$2.00 by organizations; $1.00 written off',
  )
})
