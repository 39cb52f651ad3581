import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { expectKeptLimit } from './limits-faults'
import { falseRefusalsOf, overshootOf } from './limits-observer'
import { faultProfileOf, profileOf, firstSeeds, simulationMs } from './limits-profiles'
import { nodeFaults, restartMs, simulateLimits } from './limits-world'
import { windowMs } from '../src/limits/sliding-window'
import { isDeep } from '../testing/depth'

setDefaultTimeout(simulationMs)

const seeds = firstSeeds(isDeep ? 100 : 5)

/** The time until other nodes know what a node that starts has given back. Milliseconds. */
const noticedMs = 2000

describe('R05: limits that nodes share through slices, while a node fails', () => {
  for (const fault of nodeFaults) {
    test(`${fault}: never more than the limit, and the shares of nodes without a slice`, () => {
      for (const seed of seeds) expectKeptLimit(simulateLimits(faultProfileOf(seed, fault)))
    })
  }

  test('a node that is cut off alone for minutes uses at most its share beside the others', () => {
    for (const seed of seeds) {
      const profile = profileOf(seed, { fault: 'node cut off', maxFaultMs: 300_000 })
      const share = Math.ceil(profile.limit / profile.nodes)
      const outcome = simulateLimits(profile)
      expect(overshootOf(outcome)).toBeLessThanOrEqual(share)
    }
  })

  test('node restarted: never more than the limit; its next process returns its units: slots at once, the rest after a minute', () => {
    let refused = 0
    let falsely = 0
    for (const seed of seeds) {
      const outcome = simulateLimits(faultProfileOf(seed, 'node restarted'))
      expectKeptLimit(outcome)
      const { profile, fault, decisions } = outcome
      const keptMs = profile.kind === 'places' ? 0 : windowMs
      const freeMs = (fault?.fromMs ?? 0) + restartMs + keptMs
      // By its next request of the limit.
      const next = decisions.find(({ node, atMs }) => node === fault?.node && atMs > freeMs)
      const backMs = (next?.atMs ?? Infinity) + noticedMs
      refused += decisions.filter(({ isAdmitted, atMs }) => !isAdmitted && atMs > backMs).length
      falsely += falseRefusalsOf(outcome).filter(({ atMs }) => atMs > backMs).length
    }
    // One of the 94,000 rejections of 100 seeds fitted: of tokens, where nodes exchange units all the time.
    expect(refused).toBeGreaterThan(100)
    expect(falsely / refused).toBeLessThan(0.0001)
  })
})
