import { expect, test } from 'bun:test'
import { ClickHouseRejection, ClickHouseUnavailable } from './failure'
import { RequestGate } from './gate'

const fail = () => Promise.reject(new ClickHouseUnavailable('no answer'))
const reject = () => Promise.reject(new ClickHouseRejection('rejected', { queryId: 'q' }))

/** Runs a request, and returns whether it was sent. */
async function isSent(gate: RequestGate, request: () => Promise<unknown> = fail): Promise<boolean> {
  let sent = false
  const counted = () => {
    sent = true
    return request()
  }
  await gate.run(counted).catch(() => undefined)
  return sent
}

test('three failures in a row open it; then single requests try again, ever more rarely', async () => {
  let now = 0
  const gate = new RequestGate({ nowMs: () => now, maxRunning: 10 })
  const sentAt: number[] = []
  for (; now < 100_000; now += 100) if (await isSent(gate)) sentAt.push(now)
  expect(sentAt.slice(0, 3)).toEqual([0, 100, 200])
  const pauses = sentAt.slice(3).map((at, index) => at - (sentAt[index + 2] ?? 0))
  expect(pauses.slice(0, 5)).toEqual([2000, 4000, 8000, 16_000, 30_000])
  expect(await isSent(gate, () => Promise.resolve())).toBe(false)
  now += 30_000
  expect(await isSent(gate, () => Promise.resolve())).toBe(true)
  expect(gate.isOpen).toBe(false)
})

test('an answer that rejects a statement is an answer', async () => {
  const gate = new RequestGate({ nowMs: () => 0, maxRunning: 10 })
  for (let at = 0; at < 10; at++) {
    await isSent(gate)
    await isSent(gate)
    expect(await isSent(gate, reject)).toBe(true)
  }
  expect(gate.isOpen).toBe(false)
})

test('more requests than the bound are rejected at once', async () => {
  const gate = new RequestGate({ nowMs: () => 0, maxRunning: 2 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = [gate.run(() => promise), gate.run(() => promise)]
  expect(await isSent(gate)).toBe(false)
  resolve()
  await Promise.all(running)
  expect(await isSent(gate, () => Promise.resolve())).toBe(true)
})
