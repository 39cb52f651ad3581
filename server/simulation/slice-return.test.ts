import { expect, test } from 'bun:test'
import { Scheduler } from './scheduler'
import { SlicedCounters } from '../src/limits/slices/sliced-counters'
import { SimulatedSliceServer, SimulatedSliceStore } from '../testing/limits/simulated-slice-store'

test('a slice that is given back while the store does not answer is given back once it does', () => {
  const scheduler = new Scheduler()
  const network = { isLossy: false }
  const server = new SimulatedSliceServer({ delayMs: () => 0.2, isLost: () => network.isLossy })
  let taken: unknown
  scheduler.after(0, () => {
    const store = new SimulatedSliceStore(server, 'one')
    const counters = new SlicedCounters({ store, node: 'one' })
    const windows = [{ id: 'requests:user_1', limit: 60 }]
    scheduler.after(1000, () => (taken = counters.take({ windows, weight: 1, running: [] })))
  })
  const unitsOf = (node: string) =>
    [...server.documents()].map(([, document]) => document[node]?.units ?? 0)
  // One exchange fails: too few for the store to count as unavailable.
  scheduler.after(69_990, () => (network.isLossy = true))
  scheduler.after(70_200, () => (network.isLossy = false))
  scheduler.runUntil(65_000)
  expect(taken).toBeDefined()
  expect(unitsOf('one')).not.toEqual([0])
  scheduler.runUntil(150_000)
  expect(unitsOf('one')).toEqual([0])
})
