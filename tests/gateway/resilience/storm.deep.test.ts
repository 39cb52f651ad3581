import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createRefusal } from './keyed-upstream'
import { createFixture, type Fixture } from './fixture'
import { sendRequest, messages } from '../../harness/http'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** So many requests in eight lines, each of which sends the next as soon as it is answered. */
async function load(count: number, one: () => Promise<void>): Promise<void> {
  let sent = 0
  const line = async () => {
    while (sent < count) {
      sent += 1
      await one()
    }
  }
  await Promise.all(Array.from({ length: 8 }, line))
}

test('U10: few requests reach a provider that is down, and soon after its recovery all are served', async () => {
  const { upstream, provider, billing } = fixture
  const keys = ['storm-1', 'storm-2']
  const model = await provider('storm', keys)
  const { gateway } = billing.rig
  const { key } = await gateway.customer()
  const counts = new Map<number, number>()
  const one = async () => {
    const { status } = await sendRequest(gateway, { key, body: { model, messages } })
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  await load(50, one)
  expect([...counts.keys()]).toEqual([200])
  counts.clear()
  const requestCount = () => keys.reduce((sum, secret) => sum + upstream.requestCount(secret), 0)
  const before = requestCount()
  for (const failing of keys) upstream.answer(failing, createRefusal(503))
  await load(600, one)
  expect([...counts.keys()]).toEqual([503])
  const attempts = requestCount() - before
  expect(attempts).toBeLessThanOrEqual(1.2 * (counts.get(503) ?? 0))
  for (const healed of keys) upstream.answer(healed)
  counts.clear()
  const tookMs = await eventually(async () => {
    await one()
    return counts.has(200)
  })
  recordFigure('U10: the first answer after the recovery', tookMs, { unit: 'ms', atMost: 10_000 })
  counts.clear()
  await load(50, one)
  expect([...counts.keys()]).toEqual([200])
  await waitUntilBooked(billing.sql, requestCount())
  await expectSoundLedger(billing.sql)
})
