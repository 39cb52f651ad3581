import { expect, test } from 'bun:test'
import type { AlertType } from './alert'
import {
  formatBudgetText,
  formatLowBalanceText,
  formatTestText,
  formatTriggerText,
} from './alert-text'

const at = new Date('2026-11-28T12:34:56.789Z')
const rule = (type: AlertType, threshold: number) => ({
  name: 'Mine',
  type,
  threshold,
  period: 'day' as const,
  minRequests: null,
})

const bodyOf = (type: AlertType, threshold: number, value: number) =>
  formatTriggerText(rule(type, threshold), { value, at }).body

test.each<[AlertType, number, number, string]>([
  [
    'cost_threshold',
    10,
    12.345678912,
    '$12.35 was spent in the last 24 hours. Its threshold is $10.00.',
  ],
  [
    'cost_threshold',
    0.000_25,
    0.000_312_345,
    '$0.00031 was spent in the last 24 hours. Its threshold is $0.00025.',
  ],
  [
    'cost_threshold',
    10,
    10.001_5,
    '$10.0015 was spent in the last 24 hours. Its threshold is $10.00.',
  ],
  [
    'cost_threshold',
    1500,
    1500,
    '$1,500.00 was spent in the last 24 hours. Its threshold is $1,500.00.',
  ],
  [
    'error_rate',
    12.5,
    33.333333333,
    '33.33% of the requests of the last 24 hours failed. Its threshold is 12.5%.',
  ],
  ['model_latency', 1500, 1723.123456, 'took 1,723.12 ms on average. Its threshold is 1,500 ms.'],
  [
    'quota_limit',
    80,
    81.818181818,
    '81.82% of a limit of your account is used. Its threshold is 80%.',
  ],
  [
    'unusual_activity',
    3,
    4.123456789,
    'are 4.12 standard deviations above those of the week. It reports values above 3.',
  ],
])('a trigger of %s at %d writes %d as the dashboard does', (...[type, threshold, value, text]) => {
  expect(bodyOf(type, threshold, value)).toEndWith(text)
})

test('a low balance is written in cents, with all digits where it would look like its threshold', () => {
  const bodies = [0.5, 0.123456789, 0.999999999, -2.5].map(
    (balance) => formatLowBalanceText('your account', balance, 1).body.split('. ')[0],
  )
  expect(bodies).toEqual([
    'The balance of your account has fallen to $0.50, below $1.00',
    'The balance of your account has fallen to $0.12, below $1.00',
    'The balance of your account has fallen to $0.999999999, below $1.00',
    'The balance of your account has fallen to -$2.50, below $1.00',
  ])
})

test('a test of an alert has its threshold as it was entered', () => {
  expect(formatTestText(rule('cost_threshold', 0.000_25)).body).toContain('threshold $0.00025,')
})

const budget = {
  name: 'Search',
  subject: 'Your budget "Search"',
  enforcement: 'hard',
  unit: 'usd',
  amount: 50,
  used: 47.5,
  percent: 95,
  window_end: at.toISOString(),
} as const

test.each([
  [
    {},
    'Your budget "Search" has reached 95%. It has used $47.50 of $50.00, and it resets at 2026-11-28 12:34 UTC. Requests that the rest does not cover are rejected.',
  ],
  [
    {
      subject: 'The budget "Search" of the organization "Acme"',
      window_end: null,
      used: 49.999_999,
    },
    'The budget "Search" of the organization "Acme" has reached 95%. It has used $49.999999 of $50.00, and it does not reset. Requests that the rest does not cover are rejected.',
  ],
  [
    { enforcement: 'soft', unit: 'requests', amount: 1000, used: 1200 },
    'Your budget "Search" has reached 95%. It has used 1,200 of 1,000 requests, and it resets at 2026-11-28 12:34 UTC. It rejects no requests.',
  ],
] as const)('the notification of a budget with %j', (fields, body) => {
  expect(formatBudgetText({ ...budget, ...fields })).toEqual({
    title: 'Budget at 95%: Search',
    body,
  })
})
