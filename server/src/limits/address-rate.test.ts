import { expect, test } from 'bun:test'
import { AddressRate } from './address-rate'
import { ApiError } from '../errors'

function createFixture(perMinute: number) {
  const clock = { ms: 0 }
  const set = { perMinute }
  const rate = new AddressRate({ perMinute: () => set.perMinute, now: () => clock.ms })
  /** What is left, or the refusal. */
  const ask = (address: string) => {
    try {
      return rate.count(address).remaining
    } catch (thrown) {
      if (thrown instanceof ApiError) return thrown
      throw thrown
    }
  }
  return { clock, set, ask }
}

test('limits each address a minute, an IPv6 network as one address', () => {
  const { clock, ask } = createFixture(2)
  expect([ask('2001:db8::1'), ask('2001:db8::ffff')]).toEqual([1, 0])
  clock.ms = 20_000
  expect(ask('2001:db8:0:0:1::')).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
    details: { limit: 2, window: 60, retry_after: 40 },
    retryAfterSeconds: 40,
    quota: { limit: 2, remaining: 0 },
  })
  expect(ask('2001:db8:0:1::1')).toBe(1)
  clock.ms = 59_999
  expect(ask('2001:db8::1')).toBeInstanceOf(ApiError)
  clock.ms = 60_000
  expect(ask('2001:db8::1')).toBe(1)
})

test('applies a changed limit at once', () => {
  const { set, ask } = createFixture(1)
  expect([ask('192.0.2.1'), ask('192.0.2.1')]).toEqual([0, expect.any(ApiError)])
  set.perMinute = 3
  expect([ask('192.0.2.1'), ask('192.0.2.1')]).toEqual([1, 0])
})

test('remembers the 10,000 most recent addresses', () => {
  const { ask } = createFixture(2)
  for (let number = 0; number < 10_001; number++) ask(`10.0.${number >> 8}.${number & 255}`)
  expect(ask('10.0.0.0')).toBe(1)
  expect(ask('10.0.39.16')).toBe(0)
})
