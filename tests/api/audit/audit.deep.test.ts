import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { databaseUrl, openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { runCommand } from '../../harness/run-command'
import { upstreamSecret, type Customer, type Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

/** Rejected by its provider. */
const rejected = 'fake/status-400'

let nodes: TwoNodes
let upstream: FakeProvider
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  upstream = await startFakeProvider()
  nodes = await startTwoNodes({ environment: { AUDIT_SECONDS: '1' }, database: 'embedded' })
  sql = await openDatabase(nodes.a.dataDir)
  const { a, b } = nodes
  for (const { recorder } of [a, b]) recorder.canary(upstreamSecret)
  const provider = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: upstream.url }
  await a.admin('POST', '/providers', provider)
  const connection = { name: 'fake', provider: 'fake', api_key: upstreamSecret }
  await a.admin('POST', '/connections', connection)
  const size = { category: 'chat', context_length: 8192, max_output_tokens: 4096 }
  const pricing = { input: 1, output: 4 }
  await a.admin('POST', '/models', { id: 'fake/ok', name: 'ok', pricing, ...size })
  await a.admin('POST', '/models', { id: rejected, name: 'status-400', pricing, ...size })
  const free = { id: 'fake/free', upstream_model: 'ok', name: 'free', is_free: true }
  await a.admin('POST', '/models', { ...free, ...size })
  // The last of the models: node B has heard of all.
  const customer = await a.customer()
  await eventually(async () => (await ask(b, customer, 'fake/free')).status === 200)
})
afterAll(async () => {
  for (const { recorder } of [nodes.a, nodes.b]) recorder.verify()
  await sql[Symbol.asyncDispose]()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

async function ask({ url, recorder }: Gateway, { key }: Customer, model = 'fake/ok') {
  const response = await recorder.fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  const { error } = JSON.parse(await response.text())
  return { status: response.status, code: error?.code, message: error?.message }
}

async function isBlocked({ userId }: Customer): Promise<boolean> {
  const [row] = await sql`select blocked_reason from credit_account where id = ${userId}`
  return row.blocked_reason !== null
}

/** All that was asked is booked, so that what is changed now stays the only change. */
async function isBooked({ userId }: Customer, requests: number): Promise<boolean> {
  const [row] = await sql`select count(*)::int as n from usage_event where user_id = ${userId}`
  return row.n === requests
}

/** Waits until both nodes answer so, and records how long that took. */
async function untilBoth(
  customer: Customer,
  status: number,
  { atMost, model }: { atMost: number; model?: string },
): Promise<void> {
  let tookMs = 0
  for (const node of [nodes.a, nodes.b]) {
    tookMs += await eventually(async () => (await ask(node, customer, model)).status === status)
  }
  recordFigure(`a change that makes answers ${status}`, tookMs, { unit: 'ms', atMost })
}

describe('the audit', () => {
  test('blocks paid requests of an inconsistent account, on every node, until it is repaired', async () => {
    const [victim, neighbour] = [await nodes.a.customer(), await nodes.a.customer()]
    for (const node of [nodes.a, nodes.b]) expect((await ask(node, victim)).status).toBe(200)
    await eventually(() => isBooked(victim, 2))
    await sql`update credit_account set posted = posted - 1 where id = ${victim.userId}`
    await eventually(() => isBlocked(victim))
    // By what costs nothing while it is still served: no cost is to be booked on what is not in order.
    await untilBoth(victim, 402, { atMost: 200, model: rejected })
    expect(await ask(nodes.b, victim)).toMatchObject({
      code: 'payment_required',
      message: expect.stringContaining('under review'),
    })
    for (const node of [nodes.a, nodes.b]) {
      expect((await ask(node, neighbour)).status).toBe(200)
      expect((await ask(node, victim, 'fake/free')).status).toBe(200)
    }
    await eventually(() =>
      new RegExp(`${victim.userId}.*the ledger is not in order`).test(
        nodes.a.output() + nodes.b.output(),
      ),
    )

    const { out, code } = await runCommand('audit', { DATA_DIR: nodes.a.dataDir })
    expect(out).toMatch(
      new RegExp(
        `^I2 q2a ${victim.userId}: .*: must be \\d+\\.\\d{9} USD, is \\d+\\.\\d{9} USD\\n1 violations: `,
      ),
    )
    expect(code).toBe(1)

    await sql`update credit_account set posted = posted + 1 where id = ${victim.userId}`
    await eventually(async () => !(await isBlocked(victim)))
    await untilBoth(victim, 200, { atMost: 1000 })
  })

  test('finds nothing wrong after ordinary requests, by the socket and by DATABASE_URL', async () => {
    const customer = await nodes.a.customer()
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(index % 2 ? nodes.a : nodes.b, customer)),
    )
    const bySocket = await runCommand('audit', { DATA_DIR: nodes.a.dataDir })
    expect(bySocket).toMatchObject({ code: 0, err: '' })
    expect(bySocket.out).toMatch(
      /^in order: \d+ accounts, .* events; 0\.000000000 USD written off\n$/,
    )
    const url = await databaseUrl(nodes.a.dataDir)
    const byUrl = await runCommand('audit', { DATABASE_URL: url }, '--json')
    expect(byUrl.code).toBe(0)
    expect(JSON.parse(byUrl.out)).toMatchObject({ violations: [], written_off_usd: '0.000000000' })
  })

  test('says in one line why it cannot look, and ends with 2', async () => {
    const { code, err, out } = await runCommand('audit', { DATA_DIR: '/nowhere' })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^tollgate audit: There is no database in \/nowhere\..*\n$/)
    expect(
      await runCommand('audit', { DATABASE_URL: 'postgres://localhost:1/none' }),
    ).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^tollgate audit: .*\n$/),
    })
    expect(await runCommand('audit', { DATA_DIR: nodes.a.dataDir }, '--all')).toMatchObject({
      code: 2,
    })
  })
})

describe('payment_method_required', () => {
  test('rejects paid requests on every node, at any balance, until it is lifted', async () => {
    const customer = await nodes.a.customer()
    const poor = await nodes.a.customer({}, { credit: 0, payment_method_required: true })
    await untilBoth(customer, 200, { atMost: 1000 })
    const changed = await nodes.a.admin('PUT', `/users/${customer.userId}`, {
      payment_method_required: true,
    })
    expect(changed).toMatchObject({ payment_method_required: true })
    await untilBoth(customer, 402, { atMost: 1000 })
    expect(await ask(nodes.a, customer)).toMatchObject({ code: 'payment_required' })
    expect(await ask(nodes.a, poor)).toMatchObject({ code: 'payment_required' })
    expect((await ask(nodes.b, customer, 'fake/free')).status).toBe(200)
    const name = { display_name: 'Another' }
    expect(await nodes.b.admin('PUT', `/users/${customer.userId}`, name)).toMatchObject({
      ...name,
      payment_method_required: true,
    })
    await nodes.b.admin('PUT', `/users/${customer.userId}`, { payment_method_required: false })
    await untilBoth(customer, 200, { atMost: 1000 })
    await nodes.a.admin('PUT', `/users/${poor.userId}`, { payment_method_required: false })
    for (const node of [nodes.a, nodes.b])
      await eventually(async () => (await ask(node, poor)).code === 'insufficient_credits')
  })

  test('holds from the first request after a start', async () => {
    const customer = await nodes.a.customer({}, { payment_method_required: true })
    expect(await ask(nodes.a, customer)).toMatchObject({ status: 402, code: 'payment_required' })
  })
})

const today = () => new Date().toISOString().slice(0, 10).replaceAll('-', '')

test('usage of today is in the partition of today', async () => {
  const customer = await nodes.a.customer()
  const before = today()
  await ask(nodes.a, customer)
  const days = [before, today()]
  await eventually(() => isBooked(customer, 1))
  const places = await sql`
    select distinct tableoid::regclass::text as place from usage_event
    where user_id = ${customer.userId}`
  expect(places).toHaveLength(1)
  expect(days.map((day) => `usage_event_${day}`)).toContain(places[0].place)
})
