import { expect, test } from 'bun:test'
import { AnswerCounts } from './answer-counts'
import { maxModels, UsageCounts } from './model-counts'
import { ApiError } from '../errors'
import { createTestEvent } from '../../testing/ledger/event'
import { valuesForTests } from '../../testing/request-logs/values'

const ended = (usage: UsageCounts, model: string, provider: string | null = 'acme') =>
  usage.countRequest(valuesForTests({ model, provider }), 12)

const labels = (usage: UsageCounts) =>
  usage
    .models()
    .filter(({ requests }) => requests.success > 0)
    .map(({ model, provider }) => `${model} ${provider}`)

test('P04: names chosen by callers never become labels', () => {
  const usage = new UsageCounts((id) => id === 'acme/known')
  for (let at = 0; at < 10_000; at++) {
    ended(usage, `acme/made-up-${at}`)
    ended(usage, `made-up-${at}`, null)
  }
  ended(usage, 'acme/known')
  expect(labels(usage)).toEqual(['acme/known acme', 'other acme', 'none none'])
})

test('P04: the first models of a large catalogue have figures, the others share one', () => {
  const usage = new UsageCounts(() => true)
  for (let at = 0; at < 10_000; at++) ended(usage, `acme/model-${at}`)
  expect(labels(usage)).toHaveLength(maxModels + 1)
  const last = usage.models().find(({ model }) => model === 'other')
  expect(last?.requests.success).toBe(10_000 - maxModels)
})

test('P04: providers beyond a maximum share one label, which no provider can take', () => {
  const usage = new UsageCounts(() => false)
  usage.countAttempt(createTestEvent('user_1', { provider: 'other' }))
  for (let at = 0; at < 1000; at++)
    usage.countAttempt(createTestEvent('user_1', { provider: `p${at}` }))
  const names = usage.providers().map(({ provider }) => provider)
  expect(names).toHaveLength(65)
  expect(new Set(names).size).toBe(65)
})

test('savings and additions of caches are counted apart, so that both only grow', () => {
  const usage = new UsageCounts(() => true)
  for (const cacheSavings of [3_000_000n, -1_000_000n, 0n, 500_000n]) {
    usage.countRequest(valuesForTests({ model: 'a/b', inputTokens: 100, cacheSavings }), 1)
  }
  const [counts] = usage.models()
  expect(counts).toMatchObject({
    promptTokens: 400,
    cacheSavings: 3_500_000,
    cacheSurcharge: 1_000_000,
  })
})

test('a rejection by a window of a minute or a day is one of requests, of a calendar month one of months', () => {
  const counts = new AnswerCounts()
  for (const window of [0, 60, 3600, 86_400, 28 * 86_400, 31 * 86_400]) {
    const details = { limit: 1, window, retry_after: 1 }
    counts.countError(new ApiError('rate_limit_exceeded', { message: 'Retry later.', details }))
  }
  const counted = Object.fromEntries(counts.refusals().map(({ limit, count }) => [limit, count]))
  expect(counted).toEqual({
    requests: 3,
    concurrency: 1,
    tokens: 0,
    images: 0,
    audio: 0,
    month: 2,
    credit: 0,
  })
})

test('counts a failover by its reason', () => {
  const usage = new UsageCounts(() => true)
  usage.countAttempt(
    createTestEvent('user_1', { outcome: 'failed_over', reason: 'provider_error' }),
  )
  usage.countAttempt(createTestEvent('user_1', { outcome: 'ok' }))
  usage.countAttempt(createTestEvent('user_1', { outcome: 'never heard of' }))
  const [counts] = usage.providers()
  expect(counts?.attempts.filter((count) => count > 0)).toHaveLength(3)
  expect(counts?.failovers.reduce((sum, count) => sum + count, 0)).toBe(1)
})

test.each([
  [new ApiError('tokens_per_minute_exceeded', { details: { limit: 1, used: 1 } }), 'tokens'],
  [new ApiError('images_per_minute_exceeded', { details: { limit: 1, used: 1 } }), 'images'],
  [new ApiError('audio_seconds_per_minute_exceeded', { details: { limit: 1, used: 1 } }), 'audio'],
  [limited(0), 'concurrency'],
  [limited(60), 'requests'],
  [limited(2_678_400), 'month'],
])('a rejection is counted by its limit %#', (error, name) => {
  const counts = new AnswerCounts()
  counts.countError(error)
  const counted = counts.refusals().filter(({ count }) => count > 0)
  expect(counted.map(({ limit, count }) => `${limit} ${count}`)).toEqual([`${name} 1`])
})

function limited(window: number) {
  return new ApiError('rate_limit_exceeded', { details: { limit: 1, window, retry_after: 1 } })
}

test('counts an unknown status as "other"', () => {
  const counts = new AnswerCounts()
  for (const status of [200, 418, 600, 999]) counts.countAnswer({ path: '/' }, status, 1)
  expect(counts.answers()).toEqual([
    { endpoint: 'other', status: 'other', count: 3 },
    { endpoint: 'other', status: 200, count: 1 },
  ])
})
