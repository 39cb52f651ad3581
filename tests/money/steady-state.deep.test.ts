import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startDatabaseWire, type DatabaseWire } from './database-wire'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  accountOf,
  findBooked,
  waitUntilBooked,
  reportedCost,
  requestIdOf,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { databaseUrl } from '../harness/database'
import { sendRequest, messages, type Answer, type Json } from '../harness/http'
import { eventually } from '../../server/testing/eventually'
import { startGateway, type Customer, type Gateway } from '../harness/server'

const stack = new AsyncDisposableStack()
let billing: Billing
let wire: DatabaseWire
/** A node whose way to the database is watched. */
let node: Gateway

beforeAll(async () => {
  const environment = {
    ADMIN_KEY: `admin-of-steady-${crypto.randomUUID()}`,
    ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
    MINIMUM_BALANCE_USD: '0',
    LOG_LEVEL: 'warn',
  }
  billing = stack.use(await startBilling({ environment }))
  const url = new URL(await databaseUrl(billing.rig.gateway.dataDir))
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-wire-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const real = join(url.searchParams.get('host') ?? '', '.s.PGSQL.5432')
  const path = join(directory, '.s.PGSQL.5432')
  wire = stack.use(await startDatabaseWire({ path: real }, { path }))
  url.searchParams.set('host', dirname(path))
  const own = { ...environment, DATABASE_URL: url.href }
  node = stack.use(await startGateway({ environment: own }))
})
afterAll(async () => {
  const attempts = billing.rig.upstream.requests().length
  await waitUntilBooked(billing.sql, attempts)
  await expectSoundLedger(billing.sql, { attempts })
  node.recorder.verify()
  await stack.disposeAsync()
})

/** Batches of usage that were booked, and what else was asked. */
function sorted(statements: readonly string[]) {
  const others: string[] = []
  let batches = 0
  let isInBatch = false
  for (const text of statements) {
    if (text === 'begin') isInBatch = true
    if (!isInBatch) others.push(text)
    if (text === 'commit') {
      isInBatch = false
      batches += 1
    }
  }
  return { batches, others }
}

/** 500 requests, ten at once, after ten that everything is looked up for. Resolves with all answers. */
async function serve({ key }: Pick<Customer, 'key'>): Promise<Answer[]> {
  const model = await billing.rig.model('chunks-6')
  const known = { method: 'GET', path: `/v1/models/${model}`, key }
  await eventually(async () => (await sendRequest(node, known)).status === 200)
  const chat = () => sendRequest(node, { key, body: { model, messages } })
  const ten = () => Promise.all(Array.from({ length: 10 }, chat))
  // The key is looked up, and the lease grows to what ten at once need.
  const answers = await ten()
  await untilBooked(answers)
  wire.statements()
  for (let round = 0; round < 50; round++) answers.push(...(await ten()))
  for (const { status } of answers) expect(status).toBe(200)
  await untilBooked(answers)
  const { batches, others } = sorted(wire.statements())
  console.log(`500 requests: ${batches} batches, ${others.length} other statements`)
  // Both come at intervals, so that their ratio is the same on a machine of any speed.
  expect(batches).toBeWithin(1, 250)
  expect(others.length).toBeLessThanOrEqual(2 * batches + 10)
  return answers
}

const untilBooked = (answers: readonly Answer[]) =>
  findBooked(billing.sql, answers.map(requestIdOf))

const granted = 1000n * 1_000_000_000n

test('P07: 500 requests on a lease query the database only to book their usage', async () => {
  const customer = await billing.customer(granted)
  const answers = await serve(customer)
  const reported = answers.reduce((sum, answer) => sum + reportedCost(answer), 0n)
  expect((await accountOf(billing.sql, customer)).posted).toBe(granted - reported)
})

test('P07: requests that a pool pays need none either, under the limits of its organization', async () => {
  const { gateway } = billing.rig
  const owner = await gateway.customer({ permissions: ['admin'] }, { credit: 0 })
  const call = async (method: string, path: string, body: Json) => {
    const answer = await sendRequest(gateway, { method, path: `/api${path}`, key: owner.key, body })
    if (answer.status >= 300) throw new Error(answer.text)
    return String(answer.body['id'])
  }
  const id = await call('POST', '/organizations', { name: 'Steady' })
  await billing.sql`
    update organization set plan_id = (select id from plan where name = 'roomy'),
      requests_per_minute = 1000000, tokens_per_minute = 1000000000, max_concurrent_requests = 1000
    where id = ${id}`
  const amount = Number(granted) / 1e9
  await gateway.admin('POST', '/credits/grant', { organization_id: id, amount, reason: 'Test.' })
  const limits = { monthly_spend_limit: amount, default_member_spending_limit: amount }
  await call('PUT', `/organizations/${id}`, limits)
  const funding = { funding_source: 'organization', funding_organization_id: id }
  await call('PUT', '/account/settings', funding)
  const answers = await serve(owner)
  const reported = answers.reduce((sum, answer) => sum + reportedCost(answer), 0n)
  const [pool] = await billing.sql`select posted from credit_account where id = ${id}`
  expect(BigInt(pool.posted)).toBe(granted - reported)
  const [used] = await billing.sql`
    select sum(spent) as spent, sum(requests) as requests from organization_sum
    where organization_id = ${id}`
  expect([BigInt(used.spent), Number(used.requests)]).toEqual([reported, answers.length])
})
