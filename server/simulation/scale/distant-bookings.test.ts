import { expect, test } from 'bun:test'
import { fullScale, type ScaleProfile } from './profile'
import { simulateScale } from './scale-world'

const { loss: _, ...whole } = fullScale

/** Four nodes, two of them 80 ms from the database, and few accounts, whose requests arrive at all nodes. */
const profileOf = (seed: number): ScaleProfile => ({
  ...whole,
  seed,
  nodes: 4,
  regions: 2,
  accounts: 20,
  requestsPerSecond: 20,
  affinity: 'anywhere',
  warmUpMs: 10_000,
  measuredMs: 60_000,
  lostMs: 0,
})

test('requests near the database do not wait for seconds while distant nodes book for the same accounts', () => {
  for (const seed of [1, 2, 3]) {
    const { traffic, promises } = simulateScale(profileOf(seed))
    expect(promises.found).toEqual([])
    const [near] = traffic.measured
    expect(near?.requests).toBeGreaterThan(500)
    expect(near?.ledgerWaits.percentile(1)).toBeLessThan(3000)
  }
})
