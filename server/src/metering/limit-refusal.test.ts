import { expect, test } from 'bun:test'
import { describeSpendingRefusal, describeTokenRefusal, refuseByRequests } from './limit-refusal'
import { toBudgetLimit, type WindowLimit } from '../limits/caller-limits'
import { findWindow, type WindowUnit } from '../platform/time-window'

const wallMs = Date.parse('2026-11-25T12:00:00.000Z')

const budget = (unit: WindowUnit, limit: Pick<WindowLimit, 'requests' | 'spend' | 'tokens'>) => {
  const rule = { unit, timeZone: 'Europe/Berlin', firstWeekday: 1 }
  const created = toBudgetLimit({
    subjectId: 'key_1',
    id: 'budget_1',
    name: 'Team',
    rule,
    ...limit,
  })
  return { limit: created, window: findWindow(rule, wallMs) }
}

test('a refusal by a budget in USD names the budget, its window, the remainder and the time of the reset', () => {
  const week = budget('week', { requests: null, spend: 50_000_000_000n })
  const refusal = describeSpendingRefusal(
    { ...week, remaining: 250_000_000n },
    1_000_000_000n,
    wallMs,
  )
  expect(refusal).toEqual({
    message:
      'The budget "Team" allows 50 USD a week. 0.25 USD remain until 2026-11-29T23:00:00.000Z; this request requires 1 USD.',
    details: {
      budget: {
        id: 'budget_1',
        name: 'Team',
        unit: 'usd',
        amount: 50,
        remaining: 0.25,
        window: 'week',
        window_end: '2026-11-29T23:00:00.000Z',
      },
      retry_after: 385_200,
    },
    retryAfterSeconds: 385_200,
  })
})

test('a total does not reset', () => {
  const total = budget('total', { requests: null, spend: 1_000_000_000n })
  const refusal = describeSpendingRefusal({ ...total, remaining: 0n }, 1_000_000_000n, wallMs)
  expect(refusal.message).toBe(
    'The budget "Team" allows 1 USD in total. 0 USD remain; this request requires 1 USD.',
  )
  expect(refusal.details).toMatchObject({ budget: { window: 'total', window_end: null } })
  expect(refusal.details).not.toHaveProperty('retry_after')
  expect(refusal.retryAfterSeconds).toBeUndefined()
})

test('a refusal by a budget in requests has the fields of the monthly limit, and the budget', () => {
  const { limit, window } = budget('day', { requests: 7, spend: null })
  const refusal = refuseByRequests(limit, window, wallMs)
  expect(refusal).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
    message:
      'The budget "Team" allows 7 requests a day. None is left until 2026-11-25T23:00:00.000Z.',
    details: {
      limit: 7,
      window: 86_400,
      retry_after: 39_600,
      budget: { name: 'Team', unit: 'requests', amount: 7, remaining: 0, window: 'day' },
    },
    retryAfterSeconds: 39_600,
    retryable: false,
    quota: { limit: 7, remaining: 0, resetAtMs: window.toMs },
  })
})

test('a refusal by a budget in tokens has the fields of a rate limit, and the remaining and the required tokens', () => {
  const day = budget('day', { requests: null, spend: null, tokens: 100_000n })
  expect(describeTokenRefusal({ ...day, remaining: 1200n }, 1500n, wallMs)).toEqual({
    message:
      'The budget "Team" allows 100000 tokens a day. 1200 tokens remain until 2026-11-25T23:00:00.000Z; this request requires 1500.',
    details: {
      limit: 100_000,
      window: 86_400,
      retry_after: 39_600,
      budget: {
        id: 'budget_1',
        name: 'Team',
        unit: 'tokens',
        amount: 100_000,
        remaining: 1200,
        window: 'day',
        window_end: '2026-11-25T23:00:00.000Z',
      },
    },
    retryAfterSeconds: 39_600,
    retryable: false,
    quota: { limit: 100_000, remaining: 1200, resetAtMs: day.window.toMs },
  })
})
