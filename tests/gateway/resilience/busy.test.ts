import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createRefusal } from './keyed-upstream'
import { createFixture, type Fixture } from './fixture'
import { sendRequest, messages, type Answer } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
import { createHold } from '../../../server/testing/hold'

/** Providers that say for how long they are busy. */

let fixture: Fixture
let customer: Customer

beforeAll(async () => {
  // Longer than they say.
  fixture = await createFixture({ BREAKER_SECONDS: '6000' })
  customer = await fixture.billing.rig.gateway.customer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.billing.rig.gateway.recorder.verify())

const chat = (model: string) =>
  sendRequest(fixture.billing.rig.gateway, { key: customer.key, body: { model, messages } })

test('a provider with Retry-After is not called earlier', async () => {
  const { upstream, provider } = fixture
  const model = await provider('busy', ['busy-1', 'busy-2'])
  upstream.answer('busy-1', createRefusal(429, { 'retry-after': '3600' }))
  for (let k = 0; k < 5; k++) expect((await chat(model)).status).toBe(200)
  expect(upstream.requestCount('busy-1')).toBe(1)
  expect(upstream.requestCount('busy-2')).toBe(5)
})

test('the first client receives the reason if all are busy, and the next a Retry-After', async () => {
  const { upstream, provider } = fixture
  const model = await provider('alone', ['alone-1'])
  upstream.answer('alone-1', createRefusal(503, { 'retry-after': '3600' }))
  const first = await chat(model)
  expect([first.status, first.error.code]).toEqual([503, 'provider_error'])
  expect(first.headers.get('retry-after')).toBe('3600')
  // While some try it once more, as there is no other, the rest is not let through.
  const tried = createHold()
  const refuse = createRefusal(503, { 'retry-after': '3600' })
  upstream.answer('alone-1', async () => {
    await tried.hold()
    return refuse()
  })
  const answered: Answer[] = []
  const asking: Promise<unknown>[] = []
  while (answered.length === 0 && asking.length < 50) {
    asking.push(chat(model).then((answer) => answered.push(answer)))
    await eventually(() => tried.heldCount() === asking.length || answered.length > 0)
  }
  tried.release()
  await Promise.all(asking)
  const [next = first] = answered
  expect([next.status, next.error.code, next.error.type]).toEqual([
    503,
    'gateway_unavailable',
    'gateway_error',
  ])
  expect(Number(next.headers.get('retry-after'))).toBeWithin(1, 3601)
  expect(next.headers.get('x-should-retry')).toBeNull()
})
