import { afterAll, beforeAll, expect, test } from 'bun:test'
import { refusing } from './keyed-upstream'
import { openStage, type Stage } from './stage'
import { ask, messages } from '../faults/asking'
import { expectSoundLedger } from '../money/ledger-oracle'
import { allBooked } from '../money/till'

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

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

test('U10: while nothing works few ask, and soon after it does everybody is served', async () => {
  const { upstream, provider, till } = stage
  const keys = ['storm-1', 'storm-2']
  const model = await provider('storm', keys)
  const { gateway } = till.rig
  const { key } = await gateway.customer()
  const counts = new Map<number, number>()
  const one = async () => {
    const { status } = await ask(gateway, { key, body: { model, messages } })
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  await load(500, one)
  expect([...counts.keys()]).toEqual([200])
  counts.clear()
  const before = upstream.asked('storm-1') + upstream.asked('storm-2')
  for (const failing of keys) upstream.answer(failing, refusing(503))
  await load(stormMs, one)
  expect([...counts.keys()]).toEqual([503])
  const attempts = upstream.asked('storm-1') + upstream.asked('storm-2') - before
  expect(attempts).toBeLessThanOrEqual(1.2 * (counts.get(503) ?? 0))
  for (const healed of keys) upstream.answer(healed)
  const healedAt = performance.now()
  counts.clear()
  while (!counts.has(200) && performance.now() - healedAt < 10_000) await one()
  expect(counts.has(200)).toBe(true)
  counts.clear()
  await load(500, one)
  expect([...counts.keys()]).toEqual([200])
  await allBooked(till.sql)
  await expectSoundLedger(till.sql)
})
