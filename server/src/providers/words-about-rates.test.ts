import { expect, test } from 'bun:test'
import { toCallerError } from './upstream-error'
import { sampleSource } from '../../testing/providers/samples'

test.each([
  [
    'qwen/qwen9:free is temporarily rate-limited upstream. Please retry shortly.',
    'qwen/qwen9:free is temporarily throttled upstream. Please retry shortly.',
  ],
  ['You are being rate limited', 'You are being throttled'],
  ['Rate limiting is active', 'throttling is active'],
  ['RATE_LIMITED', 'throttled'],
  ['Rate limits of this key', 'quotas of this key'],
])('finding Q21: words about rates stay words: %s', (message, words) => {
  const error = toCallerError({ status: 429, body: { error: { message } } }, sampleSource)
  expect(error.details['provider_error']).toBe(words)
})
