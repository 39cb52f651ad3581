import { describe, setDefaultTimeout, test } from 'bun:test'
import { expectKeptLimit } from './limits-faults'
import { faultProfileOf, firstSeeds, simulationMs } from './limits-profiles'
import { simulateLimits, storeFaults } from './limits-world'
import { isDeep } from '../testing/depth'

setDefaultTimeout(simulationMs)

const seeds = firstSeeds(isDeep ? 100 : 5)

describe('R05: limits that nodes share through slices, while their store fails', () => {
  for (const fault of storeFaults) {
    test(`${fault}: never more than the limit, and the shares of nodes without a slice`, () => {
      for (const seed of seeds) expectKeptLimit(simulateLimits(faultProfileOf(seed, fault)))
    })
  }
})
