import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'bun:test'
import { ApiError } from './client'
import { laterMs, mayAppear, retrySoon } from './polling'

const failure = (status: number) => new ApiError(status, { code: 'any', message: '', param: null })

test('a log that is written late is shown, however late, while its page is open', async () => {
  const attempts = { count: 0 }
  const queries = new QueryClient()
  const log = await queries.fetchQuery({
    queryKey: ['log'],
    queryFn: () => {
      attempts.count += 1
      return attempts.count > 50 ? Promise.resolve('a log') : Promise.reject(failure(404))
    },
    retry: mayAppear,
    retryDelay: 0,
  })
  expect(log).toBe('a log')
})

test('requests for a late log follow each other closely at first, then each half a minute', () => {
  const delays = Array.from({ length: 20 }, (_, count) => retrySoon(count))
  expect(delays.slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 700))
  expect(delays.slice(12)).toEqual([1400, 2800, 5600, 11_200, 22_400, laterMs, laterMs, laterMs])
  expect(retrySoon(100_000)).toBe(laterMs)
})

test('only a request that may succeed later is repeated', () => {
  const repeated = [0, 404, 429, 500, 503].map((status) => mayAppear(0, failure(status)))
  expect(repeated).toEqual([true, true, true, true, true])
  expect([401, 403, 400].map((status) => mayAppear(0, failure(status)))).toEqual([
    false,
    false,
    false,
  ])
})
