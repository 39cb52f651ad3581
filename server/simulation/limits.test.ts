import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { falseRefusalsOf, maxWaitError, overshootOf } from './limits-observer'
import { profileOf, firstSeeds, simulationMs } from './limits-profiles'
import { simulateLimits } from './limits-world'
import { isDeep } from '../testing/depth'

setDefaultTimeout(simulationMs)

const seeds = firstSeeds(isDeep ? 100 : 5)

/** The time until other nodes know what became free, where the store is 80 ms away: a few exchanges. Milliseconds. */
const distantNoticeMs = 1000

const nothing = { overshoot: 0, falseRefusals: 0 }

describe('R05: limits that nodes share through slices', () => {
  for (const nodes of [1, 2, 3, 5]) {
    test(`with ${nodes} nodes: never more than the limit, and nothing refused that fits`, () => {
      for (const seed of seeds) {
        const outcome = simulateLimits(profileOf(seed, { nodes }))
        const overshoot = overshootOf(outcome)
        const falseRefusals = falseRefusalsOf(outcome).length
        expect({ seed, overshoot, falseRefusals }).toEqual({ seed, ...nothing })
      }
    })
  }

  for (const nodes of [1, 2, 3, 5]) {
    test(`with ${nodes} nodes and the store 80 ms away: never more than the limit, and at most 1 in 100 rejections would have fitted`, () => {
      let refused = 0
      let falsely = 0
      for (const seed of seeds) {
        const outcome = simulateLimits(profileOf(seed, { nodes, roundTripMs: 80 }))
        expect({ seed, overshoot: overshootOf(outcome) }).toEqual({ seed, overshoot: 0 })
        refused += outcome.decisions.filter(({ isAdmitted }) => !isAdmitted).length
        falsely += falseRefusalsOf(outcome, distantNoticeMs).length
      }
      expect(refused).toBeGreaterThan(100)
      expect(falsely / refused).toBeLessThan(0.01)
    })
  }

  test('Retry-After is exact to the second', () => {
    for (const seed of seeds) {
      const outcome = simulateLimits(profileOf(seed, { kind: 'requests' }))
      expect(maxWaitError(outcome)).toBeLessThan(1000)
    }
  })

  test('far from the limit a request takes less than 0.05 round trips', () => {
    for (const seed of seeds) {
      const profile = profileOf(seed, { kind: 'requests', limit: 5000, rates: [600] })
      const { roundTrips, decisions } = simulateLimits(profile)
      expect(roundTrips / decisions.length).toBeLessThan(0.05)
    }
  })
})
