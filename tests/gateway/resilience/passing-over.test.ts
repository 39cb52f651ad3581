import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createRefusal } from './keyed-upstream'
import { createFixture, type Fixture } from './fixture'
import { sendRequest, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { nanosOf } from '../../harness/ledger'
import type { Customer } from '../../harness/server'

let fixture: Fixture
let customer: Customer

beforeAll(async () => {
  fixture = await createFixture()
  customer = await fixture.billing.rig.gateway.customer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.billing.rig.gateway.recorder.verify())

const chat = (model: string, { key } = customer, fields = {}) =>
  sendRequest(fixture.billing.rig.gateway, { key, body: { model, messages, ...fields } })

const statuses = async (model: string, times: number) => {
  const found: number[] = []
  for (let k = 0; k < times; k++) found.push((await chat(model)).status)
  return found
}

test('a connection that keeps failing is passed over, until it works again', async () => {
  const { upstream, provider, billing } = fixture
  const model = await provider('turns', ['turns-1', 'turns-2'])
  upstream.answer('turns-1', createRefusal(500))
  // Every request is served meanwhile; on a slow machine it is asked again each second.
  expect(await statuses(model, 20)).toEqual(Array(20).fill(200))
  await eventually(async () => {
    const asked = upstream.requestCount('turns-1')
    expect((await chat(model)).status).toBe(200)
    return upstream.requestCount('turns-1') === asked
  })
  const { output } = billing.rig.gateway
  await eventually(() => output().includes('a failing connection is skipped'))
  upstream.answer('turns-1')
  const before = upstream.requestCount('turns-1')
  await eventually(async () => {
    await chat(model)
    return upstream.requestCount('turns-1') >= before + 3
  })
  await eventually(() => output().includes('circuit breaker closed'))
})

test('no request of a caller, however wrong, has a connection passed over', async () => {
  const { upstream, provider } = fixture
  const model = await provider('wrong', ['wrong-1'])
  for (const status of [400, 403, 404, 413, 422]) {
    upstream.answer('wrong-1', createRefusal(status))
    for (let k = 0; k < 8; k++) await chat(model)
  }
  expect(upstream.requestCount('wrong-1')).toBe(40)
})

test('the hold of an attempt that failed pays for the next one', async () => {
  const { upstream, provider, billing } = fixture
  const model = await provider('held', ['held-1', 'held-2'])
  const refused = await chat(model, await billing.customer(0n))
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  // What the smallest hold needs, and not a nano-dollar more.
  const poor = await billing.customer(nanosOf(refused.error.details?.['minimum_required']))
  upstream.answer('held-1', createRefusal(500))
  const { status } = await chat(model, poor)
  expect([status, upstream.requestCount('held-1'), upstream.requestCount('held-2')]).toEqual([
    200, 1, 1,
  ])
  const limits = ['held-1', 'held-2'].map((key) => upstream.bodies(key)[0]?.['max_tokens'])
  expect(limits).toEqual([256, 256])
})

test('a client without credit receives 402, whether or not a provider works', async () => {
  const { upstream, provider, billing } = fixture
  const model = await provider('broke', ['broke-1'])
  upstream.answer('broke-1', createRefusal(503, { 'retry-after': '3600' }))
  await chat(model)
  const { status, error } = await chat(model, await billing.customer(0n))
  expect([status, error.code]).toEqual([402, 'insufficient_credits'])
})
