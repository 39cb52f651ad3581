import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createLedgerAuditStore } from './ledger-audit'
import { createSystemStore, type FailingRoute, type OwnState } from './store'
import { runExclusively } from '../../../platform/db/advisory-lock'
import type { Database } from '../../../platform/db/database'
import { openTestDatabases } from '../../../../testing/db/database'
import { ApiError } from '../../../errors'

const stack = new AsyncDisposableStack()
let database: Database
let again: (statementMs?: number) => Database

beforeAll(async () => {
  ;({ database, again } = await openTestDatabases(stack))
})
afterAll(() => stack.disposeAsync())

const own: OwnState = {
  nodeId: 'node_1',
  journal: { waiting: 7, isBehind: true },
  redis: 'lost',
  failing: [],
}

test('without the database the report covers only the process', async () => {
  const other = again(20_000)
  await other.ping()
  await other[Symbol.asyncDispose]()
  const status = await createSystemStore({
    db: other.query,
    build: { version: '1.2.3', commit: '41fc8a0c32f1' },
    own: () => own,
  }).read()
  expect(status).toMatchObject({
    version: '1.2.3',
    commit: '41fc8a0c32f1',
    node_id: 'node_1',
    journal: { waiting: 7, is_behind: true },
    redis: 'lost',
    database: { reachable: false, latency_ms: null, version: null },
    nodes: null,
    jobs: null,
    usage: null,
    audit_delivery: null,
  })
})

const failing = (isOpen: boolean, waitMs: number, openAccounts = 0): FailingRoute => ({
  provider: 'fake',
  model: 'fake/one',
  connectionId: 'conn_1',
  connectionName: 'One',
  owner: null,
  failuresInARow: 2,
  isOpen,
  waitMs,
  openAccounts,
})

test('breakers that are open come first, of many only some', async () => {
  const all = [
    ...Array.from({ length: 150 }, () => failing(false, 0)),
    failing(false, 0, 7),
    failing(true, 0),
  ]
  const state = { ...own, failing: [...all, failing(true, 1500)] }
  const store = createSystemStore({
    db: database.query,
    build: { version: '', commit: null },
    own: () => state,
  })
  const { breakers } = await store.read()
  expect([breakers.total, breakers.failing.length]).toEqual([153, 100])
  expect(breakers.failing.slice(0, 4)).toMatchObject([
    { state: 'half_open', retry_after_seconds: 0 },
    { state: 'open', retry_after_seconds: 2 },
    { state: 'closed', failures_in_a_row: 2, open_for_accounts: 7 },
    { state: 'closed', failures_in_a_row: 2, open_for_accounts: 0 },
  ])
})

const ports = { maxRequestMs: () => 1000, onFailure: () => undefined }

test('concurrent audits, and audits within a minute, share one report', async () => {
  const clock = { ms: 0 }
  const store = createLedgerAuditStore({ ...ports, db: database.query, nowMs: () => clock.ms })
  const reports = await Promise.all([store.run(), store.run()])
  clock.ms += 59_000
  expect(new Set([...reports, await store.run()]).size).toBe(1)
  clock.ms += 1000
  const later = await store.run()
  expect(reports).not.toContain(later)
  expect(later.outcome).toBe('in_order')
})

test('reports no bundle while another process makes one, and then reports it', async () => {
  const store = createLedgerAuditStore({ ...ports, db: database.query })
  const refused = await runExclusively(database.query, 'report', () =>
    store.run().catch((thrown: unknown) => thrown),
  )
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ code: 'gateway_unavailable' })
  expect((await store.run()).outcome).toBe('in_order')
})

test('a check that misses the deadline is reported, not skipped', async () => {
  const failed: string[] = []
  // By its clock each look takes ten seconds.
  let ms = -10_000
  const store = createLedgerAuditStore({
    ...ports,
    db: database.query,
    nowMs: () => (ms += 10_000),
    onFailure: (check) => failed.push(check),
  })
  const report = await store.run()
  expect(report.outcome).toBe('not_finished')
  expect(report.checks.at(-1)).toMatchObject({ outcome: 'not_finished', findings_total: 0 })
  expect([report.warnings, report.checked, failed]).toEqual([null, null, []])
})
