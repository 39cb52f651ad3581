import { describe, expect, test } from 'bun:test'
import { AddressRate } from './address-rate'
import { Authenticator } from '../auth/authenticator'
import { FailedAuthentications, toNetwork } from './failed-authentications'
import { RateLimits } from './limits'
import { MemoryCounters } from './memory-counters'
import { hashOf, newApiKey } from '../auth/api-key'
import { ApiKeyCache } from '../auth/api-key-cache'
import { combineLimits } from './caller-limits'
import { ApiError } from '../errors'
import { UnknownKeyLimiter } from './unknown-key-limiter'

const principal = {
  keyId: 'key_1',
  keyPrefix: 'sk-tg-AAAAAA',
  logBodies: false,
  disabledUntilMs: null,
  accessLists: null,
  userId: 'user_1',
  accountId: 'user_1',
  permissions: ['read' as const],
  expiresAtMs: null,
  endsAtMs: null,
  limits: combineLimits([]),
}

function createFixture() {
  const clock = { ms: 0 }
  const now = () => clock.ms
  const good = newApiKey()
  const lookups: string[] = []
  const apiKeys = new ApiKeyCache({
    lookUp(hash) {
      lookups.push(hash)
      return Promise.resolve(hash === hashOf(good) ? principal : undefined)
    },
    now,
  })
  const door = new Authenticator({
    unknownKeys: new UnknownKeyLimiter(),
    apiKeys,
    failures: new FailedAuthentications({ perMinute: () => 20, now }),
    limits: new RateLimits(new MemoryCounters(now)),
    lastUse: { note: () => undefined },
    anonymousCallers: new AddressRate({ perMinute: () => 1, now }),
    apiPerMinute: () => 1,
  })
  const knock = async (key: string, address = '192.0.2.1') => {
    const caller = {
      authorization: `Bearer ${key}`,
      address: () => address,
      reportQuota: () => undefined,
    }
    try {
      await door.authenticate(caller, 'read')
      return 200
    } catch (thrown) {
      return thrown instanceof ApiError ? thrown.status : thrown
    }
  }
  return { clock, good, lookups, knock }
}

describe('R10: failed authentications', () => {
  test('beyond 20 a minute from an address are 429 instead of 401', async () => {
    const { clock, knock } = createFixture()
    for (let count = 0; count < 20; count++) expect(await knock('nonsense')).toBe(401)
    expect(await knock('nonsense')).toBe(429)
    expect(await knock('nonsense', '192.0.2.2')).toBe(401)
    clock.ms = 60_000
    expect(await knock('nonsense')).toBe(401)
  })

  test('do not delay a known key', async () => {
    const { good, knock } = createFixture()
    expect(await knock(good)).toBe(200)
    for (let count = 0; count < 100; count++) await knock(newApiKey())
    expect(await knock(good)).toBe(200)
  })

  test('with a wrong shape or checksum are never looked up', async () => {
    const { lookups, knock } = createFixture()
    for (let count = 0; count < 1000; count++) await knock(`${newApiKey().slice(0, -1)}!`)
    for (let count = 0; count < 1000; count++) {
      await knock('nonsense', `10.0.${count >> 8}.${count & 255}`)
    }
    expect(lookups).toHaveLength(0)
  })

  test('with unknown keys are looked up once a second beyond that', async () => {
    const { clock, lookups, knock } = createFixture()
    for (let count = 0; count < 10_000; count++) {
      clock.ms += 1
      await knock(newApiKey())
    }
    // Twenty within the limit, then the ten seconds of the attack.
    expect(lookups.length).toBeLessThanOrEqual(30)
  })

  test('delay a valid key that is not cached for a second at most', async () => {
    const { clock, good, knock } = createFixture()
    for (let count = 0; count < 100; count++) await knock(newApiKey())
    clock.ms += 1000
    expect(await knock(good)).toBe(200)
  })
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('%s is one client with %s', (address, network) => {
  expect(toNetwork(address)).toBe(network)
})

describe('S9: the operator key', () => {
  const refusal = new ApiError('resource_not_found')

  function createOperatorFixture() {
    const clock = { ms: 0 }
    const failures = new FailedAuthentications({ perMinute: () => 20, now: () => clock.ms })
    const compared: string[] = []
    const knock = (key: string, address = '192.0.2.1') => {
      const isKey = () => (compared.push(key), key === 'right')
      try {
        if (failures.isOperator(address, isKey)) return 200
        return failures.judge(address, refusal).status
      } catch (thrown) {
        return thrown instanceof ApiError ? thrown.status : thrown
      }
    }
    const guess = (times: number, address?: string) =>
      Array.from({ length: times }, () => knock('wrong', address))
    return { clock, compared, knock, guess }
  }

  test('is compared 20 times a minute for an address, then once a second', () => {
    const { clock, compared, guess, knock } = createOperatorFixture()
    expect(guess(20)).toEqual(Array.from({ length: 20 }, () => 404))
    expect(new Set(guess(1000))).toEqual(new Set([429]))
    expect(compared.length).toBe(21)
    clock.ms += 999
    expect(knock('right')).toBe(429)
    clock.ms += 1
    expect(knock('right')).toBe(200)
    expect(guess(1, '198.51.100.7')).toEqual([404])
  })

  test('is accepted from an address that used it lately, after any number of failures from there', () => {
    const { clock, guess, knock } = createOperatorFixture()
    expect(knock('right')).toBe(200)
    for (let minute = 0; minute < 30; minute += 1) {
      clock.ms += 60_000
      guess(500)
      expect([minute, knock('right')]).toEqual([minute, 200])
    }
    expect(new Set(guess(100))).toEqual(new Set([429]))
  })
})
