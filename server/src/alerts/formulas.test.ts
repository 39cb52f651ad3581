import { describe, expect, test } from 'bun:test'
import {
  assert,
  bigInt,
  constantFrom,
  double,
  integer,
  property,
  record,
} from '../../testing/property'
import { hourMs, windowMs, type Rule } from './alert'
import { alertPeriods, alertTypes } from '../platform/db/alert-schema'
import { getBaselineHours, judge, getBaselineWindows, type Measures } from './formulas'

const sums = { requests: 0, successes: 0, failures: 0, latencyMs: 0, cost: 0n }
const none: Measures = {
  recent: sums,
  before: { requests: 0, windows: 0 },
  hourly: { hours: 0, total: 0, squares: 0 },
  quotas: [],
}

const rule = (type: Rule['type'], threshold: number, more: Partial<Rule> = {}): Rule => ({
  type,
  threshold,
  period: 'day',
  minRequests: null,
  ...more,
})

const recent = (some: Partial<Measures['recent']>): Measures => ({
  ...none,
  recent: { ...sums, ...some },
})

const grown = (requests: number, before: Measures['before']): Measures => ({
  ...recent({ requests }),
  before,
})

const used = (...quotas: Measures['quotas'][number][]): Measures => ({ ...none, quotas })

const hourly = (requests: number, counts: readonly number[]): Measures => ({
  ...recent({ requests }),
  hourly: {
    hours: counts.length,
    total: counts.reduce((sum, count) => sum + count, 0),
    squares: counts.reduce((sum, count) => sum + count * count, 0),
  },
})
const week = Array.from({ length: 168 }, (_, hour) => (hour % 2 ? 12 : 8))

test('is counted in deviations of the hours before, regardless of the threshold', () => {
  expect(judge(rule('unusual_activity', 1e9), hourly(17, week))).toEqual({
    value: 3.5,
    isTrue: true,
  })
  expect(judge(rule('unusual_activity', 0), hourly(16, week)).isTrue).toBe(false)
})

describe('cost', () => {
  test('is the account’s own payments, in USD', () => {
    const spent = recent({ cost: 1_500_000_001n })
    expect(judge(rule('cost_threshold', 1.5), spent)).toEqual({ value: 1.500000001, isTrue: true })
  })

  test('at the threshold is not above it', () => {
    const spent = recent({ cost: 100_000_000n })
    expect(judge(rule('cost_threshold', 0.1), spent).isTrue).toBe(false)
  })
})

describe('error rate', () => {
  test('leaves cancelled requests out', () => {
    const failing = recent({ requests: 100, successes: 15, failures: 5 })
    expect(judge(rule('error_rate', 20), failing)).toEqual({ value: 25, isTrue: true })
  })

  test('needs ten requests by default', () => {
    const nine = recent({ successes: 0, failures: 9 })
    expect(judge(rule('error_rate', 50), nine)).toEqual({ value: 100, isTrue: false })
    expect(judge(rule('error_rate', 50, { minRequests: 9 }), nine).isTrue).toBe(true)
  })
})

test('latency is the mean of successful requests, and one is enough', () => {
  const slow = recent({ successes: 3, failures: 9, latencyMs: 1000 })
  expect(judge(rule('model_latency', 333), slow)).toEqual({ value: 333.33, isTrue: true })
  expect(judge(rule('model_latency', 333, { minRequests: 4 }), slow).isTrue).toBe(false)
  expect(judge(rule('model_latency', 0), none)).toEqual({ value: 0, isTrue: false })
})

describe('a spike', () => {
  test('is the growth over the mean of the windows before', () => {
    const spike = judge(rule('usage_spike', 99), grown(60, { requests: 210, windows: 7 }))
    expect(spike).toEqual({ value: 100, isTrue: true })
  })

  test('needs three windows before, with requests', () => {
    const threshold = rule('usage_spike', 0)
    expect(judge(threshold, grown(60, { requests: 2, windows: 2 })).isTrue).toBe(false)
    expect(judge(threshold, grown(60, { requests: 0, windows: 7 })).isTrue).toBe(false)
    expect(judge(threshold, grown(60, { requests: 3, windows: 3 })).isTrue).toBe(true)
  })

  test('has windows that lie after the creation of the account, seven at most', () => {
    const now = 1e12
    const day = windowMs.day
    expect(getBaselineWindows('day', now, now - 4.5 * day)).toEqual({
      windows: 3,
      span: { fromMs: now - 4 * day, toMs: now - day },
    })
    expect(getBaselineWindows('day', now, 0).windows).toBe(7)
    expect(getBaselineWindows('day', now, now).windows).toBe(0)
  })
})

describe('quota', () => {
  test('is the highest of the limited ones, and reaching the threshold is enough', () => {
    const half = used({ limit: 10, used: 5 }, { limit: null, used: 1e9 }, { limit: 100, used: 1 })
    expect(judge(rule('quota_limit', 50), half)).toEqual({ value: 50, isTrue: true })
  })

  test('without a limit is not reached, even at a threshold of zero', () => {
    expect(judge(rule('quota_limit', 0), used({ limit: 10, used: 0 })).isTrue).toBe(false)
    expect(judge(rule('quota_limit', 0), used()).isTrue).toBe(false)
  })
})

describe('unusual activity', () => {
  test('takes a deviation of one at least', () => {
    const steady = Array.from({ length: 24 }, () => 5)
    expect(judge(rule('unusual_activity', 0), hourly(9, steady)).value).toBe(4)
  })

  test('needs 24 hours', () => {
    const short = Array.from({ length: 23 }, () => 0)
    expect(judge(rule('unusual_activity', 0), hourly(100, short)).isTrue).toBe(false)
  })

  test('looks at whole hours before the last sixty minutes, since the creation', () => {
    const now = 1000 * hourMs + 1
    expect(getBaselineHours(now, 0)).toEqual({
      hours: 168,
      span: { fromMs: 831 * hourMs, toMs: 999 * hourMs },
    })
    expect(getBaselineHours(now, 990 * hourMs + 1).hours).toBe(8)
    expect(getBaselineHours(now, now).hours).toBe(0)
  })
})

const count = () => integer({ min: 0, max: 1_000_000_000 })

test('J07: every measurement gives a number as value, and a verdict that matches it', () => {
  const anyRule = record({
    type: constantFrom(...alertTypes),
    threshold: double({ min: 0, max: 1e12, noNaN: true }),
    period: constantFrom(...alertPeriods),
    minRequests: constantFrom(null, 1, 100),
  })
  const anyMeasures = record({
    recent: record({
      requests: count(),
      successes: count(),
      failures: count(),
      latencyMs: count(),
      cost: bigInt({ min: 0n, max: 10n ** 18n }),
    }),
    before: record({ requests: count(), windows: integer({ min: 0, max: 7 }) }),
    hourly: record({ hours: integer({ min: 0, max: 168 }), total: count(), squares: count() }),
    quotas: record({ limit: constantFrom(null, 0, 1, 1e9), used: count() }).map((one) => [one]),
  })
  assert(
    property(anyRule, anyMeasures, (rule, measures) => {
      const { value, isTrue } = judge(rule, measures)
      const bound = rule.type === 'unusual_activity' ? 3 : rule.threshold
      return Number.isFinite(value) && (!isTrue || value >= bound)
    }),
  )
})
