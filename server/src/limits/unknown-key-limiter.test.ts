import { expect, test } from 'bun:test'
import { AddressRate } from './address-rate'
import { Authenticator } from '../auth/authenticator'
import { FailedAuthentications } from './failed-authentications'
import { RateLimits } from './limits'
import { MemoryCounters } from './memory-counters'
import { UnknownKeyLimiter } from './unknown-key-limiter'
import { newApiKey } from '../auth/api-key'
import { ApiKeyCache } from '../auth/api-key-cache'
import { ApiError } from '../errors'

/** All requests are within one minute, however long they take. */
const now = () => 1000

/** A door whose database has not answered yet. */
function createFixture() {
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>()
  const state = { lookUps: 0 }
  const apiKeys = new ApiKeyCache({
    lookUp: () => {
      state.lookUps += 1
      return answered
    },
    now,
  })
  const unknownKeys = new UnknownKeyLimiter()
  const door = new Authenticator({
    apiKeys,
    unknownKeys,
    failures: new FailedAuthentications({ perMinute: () => 20, now }),
    limits: new RateLimits(new MemoryCounters(now)),
    lastUse: { note: () => undefined },
    anonymousCallers: new AddressRate({ perMinute: () => 60, now }),
    apiPerMinute: () => 300,
  })
  const enter = async (address: string) => {
    const caller = {
      authorization: `Bearer ${newApiKey()}`,
      address: () => address,
      reportQuota: () => undefined,
    }
    try {
      await door.authenticate(caller, 'write')
    } catch (thrown) {
      return thrown instanceof ApiError ? thrown.code : 'internal_error'
    }
    return 'in'
  }
  return { state, unknownKeys, enter, answer: () => answer(undefined) }
}

const many = async (count: number, one: () => Promise<string>) => {
  const codes = await Promise.all(Array.from({ length: count }, one))
  return Object.fromEntries(
    [...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length]),
  )
}

test('H01: four thousand unknown keys from one address at once are not a thousand look-ups', async () => {
  const { state, unknownKeys, enter, answer } = createFixture()
  const all = many(4000, () => enter('192.0.2.1'))
  const other = enter('192.0.2.2')
  expect(state.lookUps).toBe(1025)
  answer()
  // Of those that were looked up 20 may fail in a minute; the others exceed the rate limit.
  expect(await all).toEqual({ invalid_api_key: 20, rate_limit_exceeded: 3980 })
  expect(await other).toBe('invalid_api_key')
  expect(unknownKeys.size).toBe(0)
})
