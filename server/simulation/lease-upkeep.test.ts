import { expect, test } from 'bun:test'
import { Scheduler } from './scheduler'
import { LeaseUpkeep } from '../src/ledger/lease-upkeep'

test('a heartbeat and a sweep that fail are repeated a second later', () => {
  const scheduler = new Scheduler()
  const calls: [kind: string, atS: number][] = []
  const record = (kind: string) => async () => {
    calls.push([kind, Math.round(scheduler.nowMs / 1000)])
    if (calls.filter(([one]) => one === kind).length === 1) throw new Error('connection lost')
  }
  scheduler.after(0, () => {
    void new LeaseUpkeep({
      credit: { tick: async () => undefined, listHeld: () => [], size: 0 },
      readReclaims: async () => [],
      onReclaim: () => undefined,
      beat: record('beat'),
      sweep: record('sweep'),
      onError: () => undefined,
    })
  })
  scheduler.runUntil(32_000)
  expect(calls).toEqual([
    ['sweep', 10],
    ['sweep', 11],
    ['beat', 20],
    ['beat', 21],
    ['sweep', 21],
    ['sweep', 31],
  ])
})

const fail = async () => {
  throw new Error('connection lost')
}

test('leases are renewed each second, however reading reclaims, heartbeats and sweeps fail', () => {
  const scheduler = new Scheduler()
  let ticks = 0
  let errors = 0
  scheduler.after(0, () => {
    void new LeaseUpkeep({
      credit: { tick: async () => void (ticks += 1), listHeld: () => [], size: 1 },
      readReclaims: fail,
      onReclaim: () => undefined,
      beat: fail,
      sweep: fail,
      onError: () => void (errors += 1),
    })
  })
  scheduler.runUntil(30_500)
  expect(ticks).toBe(30)
  // Each is tried again at the next second: from the second one, from the tenth and from the twentieth.
  expect(errors).toBe(29 + 21 + 11)
})
