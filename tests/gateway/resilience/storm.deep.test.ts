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

const everyMs = 10
const stormMs = 4000

/** One request every 10 ms, whether or not those before have been answered. */
async function load(forMs: number, one: () => Promise<void>): Promise<void> {
  const running: Promise<void>[] = []
  const startedAt = performance.now()
  while (performance.now() - startedAt < forMs) {
    running.push(one())
    await Bun.sleep(everyMs)
  }
  await Promise.all(running)
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
  await load(500, one)
  expect([...counts.keys()]).toEqual([200])
  counts.clear()
  const before = upstream.requestCount('storm-1') + upstream.requestCount('storm-2')
  for (const failing of keys) upstream.answer(failing, createRefusal(503))
  await load(stormMs, one)
  expect([...counts.keys()]).toEqual([503])
  const attempts = upstream.requestCount('storm-1') + upstream.requestCount('storm-2') - before
  expect(attempts).toBeLessThanOrEqual(1.2 * (counts.get(503) ?? 0))
  for (const healed of keys) upstream.answer(healed)
  counts.clear()
  const tookMs = await eventually(async () => {
    await one()
    return counts.has(200)
  })
  recordFigure('U10: the first answer after the recovery', tookMs, { unit: 'ms', atMost: 10_000 })
  counts.clear()
  await load(500, one)
  expect([...counts.keys()]).toEqual([200])
  await waitUntilBooked(billing.sql)
  await expectSoundLedger(billing.sql)
})
