import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { version } from '../../../server/package.json'
import { sendOperatorRequest } from '../../harness/operator'
import { openDatabase } from '../../harness/database'
import { startRig, type Customer, type Rig } from '../../harness/server'

let rig: Rig
let sql: SQL & AsyncDisposable
let customer: Customer

beforeAll(async () => {
  rig = await startRig({
    environment: {
      BREAKER_SECONDS: '60',
      AUDIT_SECONDS: '3600',
      TOLLGATE_COMMIT: '41fc8a0c32f1',
    },
  })
  sql = await openDatabase(rig.gateway.dataDir)
  customer = await rig.gateway.customer()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await sql[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
})

test('the system page shows itself, its database and its nodes', async () => {
  const { status, body } = await sendOperatorRequest(rig.gateway, 'GET /system')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    version,
    redis: 'none',
    journal: { is_behind: false },
    database: { reachable: true, latency_ms: expect.any(Number) },
    usage: { orphans: 0, orphans_older_than_a_day: 0, mails_waiting: expect.any(Number) },
    audit_delivery: { entries_waiting: 0, lag_seconds: 0, failing_destinations: 0 },
    jobs: { ledger_audit_at: null },
  })
  expect(body['database']).toMatchObject({ version: expect.stringMatching(/^\d+/) })
  const [node] = Array.isArray(body['nodes']) ? body['nodes'] : []
  expect(node).toMatchObject({ id: body['node_id'], alive: true, is_this: true })
  expect(body['uptime_seconds']).toBeGreaterThanOrEqual(0)
  expect(body['memory']).toMatchObject({ resident_bytes: expect.any(Number) })
})

test('finding N18: the system and the start name the commit of the build', async () => {
  const { body } = await sendOperatorRequest(rig.gateway, 'GET /system')
  expect(body).toMatchObject({ version, commit: '41fc8a0c32f1' })
  expect(rig.gateway.output()).toContain(`Tollgate ${version}+41fc8a0c32f1 is ready at http`)
})

test('a node that is silent is not alive', async () => {
  await sql`
    insert into node (id, place, seen_at) values ('node_gone', 'x', now() - interval '2 minutes')`
  const { body } = await sendOperatorRequest(rig.gateway, 'GET /system')
  expect(body['nodes']).toContainEqual(
    expect.objectContaining({ id: 'node_gone', alive: false, is_this: false }),
  )
  await sql`delete from node where id = 'node_gone'`
})

test('reports a failing connection while it is skipped, for one account and for all', async () => {
  const model = await rig.model('status-500')
  const fail = async ({ key }: Customer) => {
    const request = {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    }
    for (let count = 0; count < 6; count += 1) {
      await (await fetch(`${rig.gateway.url}/v1/chat/completions`, request)).text()
    }
  }
  const breakers = async () =>
    (await sendOperatorRequest(rig.gateway, 'GET /system')).body['breakers']
  const failing = { provider: 'fake', model, owner_id: null, connection_name: 'fake' }
  await fail(customer)
  expect(await breakers()).toMatchObject({
    total: 1,
    failing: [{ ...failing, state: 'closed', open_for_accounts: 1 }],
  })
  const others = await Promise.all(Array.from({ length: 9 }, () => rig.gateway.customer()))
  await Promise.all(others.map(fail))
  expect(await breakers()).toMatchObject({ total: 1, failing: [{ ...failing, state: 'open' }] })
})

test('the audit names each difference, its account and its amount, and is cached for a while', async () => {
  await sql`update credit_account set posted = posted + 1 where id = ${customer.userId}`
  const { status, body } = await sendOperatorRequest(rig.gateway, 'GET /ledger-audit')
  expect([status, body['outcome']]).toEqual([200, 'violations'])
  expect(body['checks']).toContainEqual({
    check: 'q2a',
    invariant: 'I2',
    violation: 'the balance is not the sum of the entries',
    outcome: 'violations',
    findings_total: 1,
    findings: [
      {
        account_id: customer.userId,
        ref: customer.userId,
        expected: expect.any(Number),
        found: expect.any(Number),
        difference: 0.000000001,
      },
    ],
  })
  expect(body['checks']).toContainEqual(
    expect.objectContaining({ check: 'q1', outcome: 'in_order', findings: [] }),
  )
  expect(body['checked']).toMatchObject({ accounts: expect.any(Number) })
  await sql`update credit_account set posted = posted - 1 where id = ${customer.userId}`
  expect((await sendOperatorRequest(rig.gateway, 'GET /ledger-audit')).body).toEqual(body)
})
