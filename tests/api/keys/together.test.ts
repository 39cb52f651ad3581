import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { call } from '../catalogue/requests'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { newApiKey } from '../../../server/src/auth/api-key'
import { newDataDir, startGateway, type Customer, type Gateway } from '../../harness/server'
import { connectProvider } from '../../harness/nodes'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

const count = 40

let dataDir: string
let upstream: FakeProvider

beforeAll(async () => {
  dataDir = await newDataDir()
  upstream = await startFakeProvider()
})
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const start = () => startGateway({ dataDir, database: 'shared' })

/** One chat, in words that mean something else to each account. */
const chat = (gateway: Gateway, key: string) =>
  sendRequest(gateway, {
    path: '/v1/chat/completions',
    key,
    body: { model: 'mine', messages: [{ role: 'user', content: 'Hello' }] },
  })

/** Accounts, every third of which has a meaning for the name. */
async function prepare(gateway: Gateway): Promise<Customer[]> {
  await connectProvider(gateway, upstream)
  for (const name of ['ok', 'ok-mini']) {
    const model = { id: `fake/${name}`, name, category: 'chat', is_free: true }
    await gateway.admin('POST', '/models', {
      ...model,
      context_length: 8192,
      max_output_tokens: 4096,
    })
  }
  const customers: Customer[] = []
  for (let number = 0; number < count; number++) {
    const customer = await gateway.customer({ permissions: ['admin'] })
    customers.push(customer)
    if (number % 3 > 0) continue
    const target_model = number % 2 > 0 ? 'fake/ok' : 'fake/ok-mini'
    await call(gateway, customer, 'POST /user/model-mappings', {
      source_pattern: 'mine',
      target_model,
    })
  }
  return customers
}

test('each of many accounts on a cold server is identified as itself', async () => {
  let customers: Customer[]
  {
    await using before = await start()
    customers = await prepare(before)
    await using sql = await openDatabase(dataDir)
    const damaged = { monthly_spend: '12.5' }
    await sql`update users set limits = ${damaged}::jsonb where id = ${customers[1]?.userId}`
  }
  await using gateway = await start()
  const strangers = Array.from({ length: 10 }, () => newApiKey())
  const [answers, unknown] = await Promise.all([
    Promise.all(customers.map(({ key }) => chat(gateway, key))),
    Promise.all(strangers.map((key) => chat(gateway, key))),
  ])
  for (const { status } of unknown) expect(status).toBe(401)
  const got = answers.map(({ status, body }) => (status === 200 ? body['model'] : status))
  expect(got).toEqual(
    Array.from({ length: count }, (_, number) => {
      // A failed read of one key does not affect the others.
      if (number === 1) return 503
      if (number % 3 > 0) return 400
      return number % 2 > 0 ? 'fake/ok' : 'fake/ok-mini'
    }),
  )
  gateway.recorder.verify()
})
