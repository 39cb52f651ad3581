import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from './requests'
import { flagships } from '../../../server/testing/catalog/flagships'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** Stands where the providers are: nothing leaves this machine. */
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response('{"error":{"message":"Away."}}', { status: 503 }),
})

let gateway: Gateway
let customer: Customer

const providerOf = (id: string) => id.slice(0, id.indexOf('/'))

beforeAll(async () => {
  const addresses = flagships.map(({ id }) => [
    `${providerOf(id).toUpperCase()}_BASE_URL`,
    `${upstream.url.origin}/${providerOf(id)}`,
  ])
  gateway = await startGateway({
    environment: {
      ...Object.fromEntries(addresses),
      ...Object.assign({}, ...flagships.map(({ environment }) => environment)),
    },
  })
  customer = await gateway.customer()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
  await upstream.stop(true)
})

test('finding P2: GET /v1/models lists the flagship of each provider whose key is set', async () => {
  const { data } = await customer.client.models.list()
  const listed = new Set(data.map(({ id }) => id))
  expect(flagships.map(({ id }) => id).filter((id) => !listed.has(id))).toEqual([])
})

test.each(flagships)('finding P2: GET /api/models has a price for $id', async ({ id }) => {
  const { status, body } = await call(gateway, customer, `GET /models/${id}`)
  expect([status, body['id']]).toEqual([200, id])
  const isFree = providerOf(id) === 'nvidia'
  expect([body['billing_mode'], body['is_free']]).toEqual([isFree ? 'free' : 'platform', isFree])
  const above = isFree ? -1 : 0
  expect(body['pricing']).toMatchObject({ currency: 'USD' })
  const { input, output } = Object(body['pricing'])
  expect(input).toBeGreaterThan(above)
  expect(output).toBeGreaterThan(above)
})

test('finding P2: no key that the operator set is in an answer or in the log', async () => {
  const { text } = await call(gateway, customer, 'GET /models?limit=1')
  expect(text).not.toContain('key-that-opens-nothing')
  expect(gateway.output()).not.toContain('key-that-opens-nothing')
})
