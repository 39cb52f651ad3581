import { describe, expect, test } from 'bun:test'
import { retryAfterSeconds } from './retry-after'
import { invalidAnswer, toCallerError, type ErrorSource } from './upstream-error'
import { errorBody, errorSource, toApiError } from '../../testing/providers/error-samples'

describe('the table of a provider’s status', () => {
  test.each([429, 503, 529])('%d is busy: 503, and a repeat may help', (status) => {
    const busy = { code: 'provider_error', status: 503, retryable: true, retryAfterSeconds: 7 }
    expect(toApiError(status, errorBody({}), '7')).toMatchObject(busy)
  })

  test.each([401, 403, 402, 404, 405, 408, 409, 418])(
    '%d is 502, and a repeat does not help',
    (status) => {
      expect(toApiError(status)).toMatchObject({
        code: 'provider_error',
        status: 502,
        retryable: false,
      })
    },
  )

  test.each([500, 502, 504])('%d is 502, and a repeat may help', (status) => {
    expect(toApiError(status)).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: true,
    })
  })

  test('every one of them names the provider and its words', () => {
    expect(toApiError(500).details).toEqual({ provider: 'acme', provider_error: 'No.' })
    expect(toApiError(500, '').details).toEqual({
      provider: 'acme',
      provider_error: 'It returned status 500.',
    })
  })
})

describe('the caller’s own fault', () => {
  test.each([400, 422])('%d that names a sent field is reported by that field', (status) => {
    for (const param of ['temperature', 'messages[0].content', 'messages.0.content']) {
      expect(toApiError(status, errorBody({ param }))).toMatchObject({
        code: 'invalid_request',
        status: 400,
        param,
        details: { issue: 'refused_by_provider' },
        message: 'No.',
      })
    }
  })

  test.each([400, 413, 422])(
    'finding P9: %d is the caller’s fault in any case, in the provider’s words',
    (status) => {
      for (const body of [
        errorBody({ param: 'stream_options' }),
        errorBody({}),
        { message: 'No.' },
        'No.',
      ]) {
        expect(toApiError(status, body)).toMatchObject({
          code: 'invalid_request',
          status: 400,
          param: null,
          message: 'No.',
          details: { issue: 'refused_by_provider' },
          retryable: false,
        })
      }
      expect(toApiError(status, '').message).toBe(
        `acme rejected the request with status ${status}.`,
      )
    },
  )

  test.each([{ code: 'content_filter' }, { type: 'content_policy_violation' }])(
    'a filter’s refusal %j is about the client’s text',
    (fields) => {
      expect(toApiError(400, errorBody(fields))).toMatchObject({
        code: 'invalid_request',
        param: 'messages',
        details: { issue: 'content_filter' },
      })
    },
  )
})

describe('too long', () => {
  test.each([
    [errorBody({ code: 'context_length_exceeded', message: 'Too much.' })],
    [errorBody({ message: 'prompt is too long: 9000 tokens > 8192 maximum' })],
    [errorBody({ message: 'The input exceeds the maximum number of tokens allowed (8192).' })],
    [{ message: 'Input is too long for requested model.' }],
  ])('R16: %j names the maximum length', (body) => {
    const error = toApiError(400, body)
    expect(error).toMatchObject({ code: 'context_length_exceeded', status: 400, param: 'messages' })
    expect(error.message).toMatch(/maximum context length is \d+ tokens/)
    expect(error.details['max_context']).toBe(8192)
  })

  test('the provider’s own words stay if they already name it', () => {
    const overflowMessage =
      "This model's maximum context length is 8192 tokens. You requested 9001 tokens."
    expect(toApiError(400, errorBody({ message: overflowMessage }))).toMatchObject({
      message: overflowMessage,
      details: { max_context: 8192, requested: 9001 },
    })
  })

  test('reports an output limit above the model’s by the field of the request', () => {
    const message = 'max_tokens is too large: 9000. This model supports at most 4096 tokens.'
    expect(toApiError(400, errorBody({ message, param: 'max_tokens' }))).toMatchObject({
      code: 'max_tokens_exceeded',
      param: 'max_tokens',
      details: { max_allowed: 4096, requested: 9000 },
    })
  })
})

describe('an error inside a 200', () => {
  test.each([
    [errorBody({ type: 'overloaded_error', message: 'Overloaded' }), 503],
    [errorBody({ code: 429, message: 'Slow down.' }), 503],
    [errorBody({ code: 500, message: 'Oops.' }), 502],
    [errorBody({ message: 'Oops.' }), 502],
    [{ base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 503],
    [{ error: 'text' }, 502],
  ])('%j', (body, status) => {
    expect(toApiError(200, body)).toMatchObject({ code: 'provider_error', status })
  })

  test('a lack of quota is nothing that waiting cures', () => {
    expect(
      toApiError(429, errorBody({ code: 'insufficient_quota', type: 'insufficient_quota' })),
    ).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: false,
    })
  })
})

describe('words', () => {
  test.each([
    [{ error: { message: 'a' } }],
    [{ error: 'a' }],
    [{ message: 'a' }],
    [{ detail: 'a' }],
    [[{ error: { message: 'a' } }]],
    [{ code: 'x', error: 'a' }],
    [{ type: 'error', error: { type: 'api_error', message: 'a' }, request_id: 'r' }],
    [{ base_resp: { status_code: 1, status_msg: 'a' } }],
    ['a'],
  ])('are found in %j', (body) => {
    expect(toApiError(500, body).details['provider_error']).toBe('a')
  })

  test('R17: never speak of rate limits: that is our own 429', () => {
    for (const message of ['Rate limit reached', 'rate_limit_error', 'RATE-LIMIT', 'ratelimit']) {
      const error = toApiError(429, errorBody({ message }))
      expect(`${error.message} ${String(error.details['provider_error'])}`).not.toMatch(
        /rate[\s_-]*limit/i,
      )
    }
  })

  test('have 300 characters at most', () => {
    expect(
      toApiError(500, errorBody({ message: 'x'.repeat(5000) })).details['provider_error'],
    ).toHaveLength(300)
  })
})

/** The seconds in the words of an error. */
const retryFrom = (message: string) => toApiError(429, errorBody({ message })).retryAfterSeconds

test('the time to wait is a number, a date, or part of the text', () => {
  expect(retryAfterSeconds('12')).toBe(12)
  expect(retryAfterSeconds('0')).toBe(0)
  expect(retryAfterSeconds('-5')).toBe(0)
  expect(retryAfterSeconds('soon')).toBeUndefined()
  expect(retryAfterSeconds('')).toBeUndefined()
  expect(retryAfterSeconds(null)).toBeUndefined()
  const soon = retryAfterSeconds(new Date(Date.now() + 30_000).toUTCString()) ?? 0
  expect(soon).toBeGreaterThan(25)
  expect(soon).toBeLessThanOrEqual(30)
  expect(retryAfterSeconds('Mon, 01 Jan 2001 00:00:00 GMT')).toBe(0)
  expect(retryFrom('Please try again in 20s.')).toBe(20)
  expect(retryFrom('Please try again in 250ms.')).toBe(0.25)
  expect(retryFrom('retry after 9 seconds')).toBe(9)
})

test('nonsense may have been billed, so that it is not to be repeated', () => {
  expect(invalidAnswer('acme', 'an unreadable chunk')).toMatchObject({
    code: 'provider_error',
    status: 502,
    retryable: false,
    details: { provider: 'acme', provider_error: 'an unreadable chunk' },
  })
})

const refusedWith = (message: string, sourceFields: Partial<ErrorSource> = {}) => {
  const body = { error: { type: 'invalid_request_error', message } }
  return toCallerError({ status: 400, body }, { ...errorSource, ...sourceFields })
}

test('a field that begins the words is named, if the caller sent it', () => {
  expect(refusedWith('temperature: too hot')).toMatchObject({
    code: 'invalid_request',
    param: 'temperature',
    details: { issue: 'refused_by_provider' },
  })
  // Its place is that of the provider's request, which may have other messages.
  expect(refusedWith('messages.7.content: no')).toMatchObject({ param: 'messages' })
  expect(refusedWith('Error: messages are wrong')).toMatchObject({ param: null })
  expect(refusedWith('metadata.user_id: too long')).toMatchObject({ param: null })
  const prompt = { textField: 'prompt', wasSent: (field: string) => field === 'prompt' } as const
  expect(refusedWith('messages.0: no', prompt)).toMatchObject({ param: 'prompt' })
})
