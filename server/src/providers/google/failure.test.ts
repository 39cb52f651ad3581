import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSignatureRejection, toGoogleError } from './failure'
import type { JsonObject } from '../../wire/json-body'
import type { ErrorSource } from '../upstream-error'

const secret = 'AIzaSyA-0123456789'
const source: ErrorSource = {
  provider: 'google',
  secret,
  textField: 'messages',
  wasSent: (field) => ['messages', 'temperature', 'max_tokens', 'tools'].includes(field),
  contextLength: null,
  maxOutputTokens: null,
}

const body = (code: number, status: string, extra: JsonObject = {}) => ({
  error: { code, message: 'No.', status, ...extra },
})
const toApiError = (status: number, errorBody: unknown, retryAfter: string | null = null) =>
  toGoogleError({ status, body: errorBody, retryAfter }, source)
const detail = (type: string, fields: JsonObject) => ({
  '@type': `type.googleapis.com/google.rpc.${type}`,
  ...fields,
})

describe('a bad key', () => {
  const reason = detail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' })
  const keyMessage = 'API key not valid. Please pass a valid API key.'

  test.each([
    ['by its reason', body(400, 'INVALID_ARGUMENT', { details: [reason] })],
    ['by its words', body(400, 'INVALID_ARGUMENT', { message: keyMessage })],
    ['in an array', [body(400, 'INVALID_ARGUMENT', { message: keyMessage, details: [reason] })]],
    ['an expired key', body(400, 'INVALID_ARGUMENT', { message: 'API key expired. Renew it.' })],
  ])('is the connection’s fault, not the caller’s: %s', (_how, errorBody) => {
    expect(toApiError(400, errorBody)).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: false,
      cause: { status: 401 },
    })
  })
})

const retry = (retryDelay: unknown) =>
  body(429, 'RESOURCE_EXHAUSTED', {
    details: [detail('QuotaFailure', { violations: [] }), detail('RetryInfo', { retryDelay })],
  })

describe('busy', () => {
  test.each([
    ['34.4s', 34.4],
    ['7s', 7],
    ['soon', undefined],
    [7, undefined],
  ])('a delay of %p is waited for %p seconds', (delay, seconds) => {
    expect(toApiError(429, retry(delay))).toMatchObject({
      code: 'provider_error',
      status: 503,
      retryable: true,
      retryAfterSeconds: seconds,
    })
  })

  test('a header counts before it', () => {
    expect(toApiError(429, retry('34.4s'), '3').retryAfterSeconds).toBe(3)
  })

  const recording = join(
    import.meta.dir,
    '../../../../../shared/fixtures/upstream/google-429-retry-info.json',
  )
  test.if(existsSync(recording))('as it was recorded', () => {
    const errorBody: unknown = JSON.parse(readFileSync(recording, 'utf8'))
    expect(toApiError(429, errorBody)).toMatchObject({ status: 503, retryAfterSeconds: 34.4 })
  })

  test.each([500, 503, 504])('%d may be repeated', (status) => {
    expect(toApiError(status, body(status, 'INTERNAL'))).toMatchObject({
      code: 'provider_error',
      retryable: true,
    })
  })
})

describe('the caller’s own fault', () => {
  const violation = (field: string) =>
    body(400, 'INVALID_ARGUMENT', {
      details: [detail('BadRequest', { fieldViolations: [{ field, description: 'No.' }] })],
    })

  test.each([
    [violation('generation_config.temperature'), 'temperature'],
    [violation('contents[2].parts[0]'), 'messages'],
    [violation('tools[0].function_declarations[1].name'), 'tools'],
    [
      body(400, 'INVALID_ARGUMENT', {
        message: '* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid.',
      }),
      'tools',
    ],
    [
      body(400, 'INVALID_ARGUMENT', { message: "Invalid value at 'contents[0].parts[0]' (bytes)" }),
      'messages',
    ],
  ])('%#: names the field of the request: %2$s', (errorBody, param) => {
    expect(toApiError(400, errorBody)).toMatchObject({
      code: 'invalid_request',
      param,
      details: { issue: 'refused_by_provider' },
    })
  })

  test.each([
    violation('generation_config.top_p'),
    body(400, 'INVALID_ARGUMENT', { message: 'These tools and contents are odd.' }),
  ])('finding P9: %#: names no field that the request does not have', (errorBody) => {
    expect(toApiError(400, errorBody)).toMatchObject({
      code: 'invalid_request',
      status: 400,
      param: null,
      details: { issue: 'refused_by_provider' },
    })
  })

  test('a location that Google does not serve is not the caller’s fault', () => {
    const errorBody = body(400, 'FAILED_PRECONDITION', {
      message: 'User location is not supported.',
    })
    expect(toApiError(400, errorBody)).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: false,
      cause: { status: 403 },
    })
  })

  test('a prompt that is too long', () => {
    const message =
      'The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).'
    expect(toApiError(400, body(400, 'INVALID_ARGUMENT', { message }))).toMatchObject({
      code: 'context_length_exceeded',
      message: `This model's maximum context length is 1048576 tokens. ${message}`,
      details: { max_context: 1_048_576, requested: 1_250_000 },
    })
  })

  test.each([
    ['exclusive', 65_536],
    ['inclusive', 65_537],
  ])('an output limit that is too high, its bound %s', (bound, allowed) => {
    const message = `Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (${bound}). Update the value and try again.`
    expect(toApiError(400, body(400, 'INVALID_ARGUMENT', { message }))).toMatchObject({
      code: 'max_tokens_exceeded',
      param: 'max_tokens',
      details: { max_allowed: allowed, requested: 100_000 },
    })
  })
})

const refused = (message: string, status = 400) =>
  isSignatureRejection({ status, body: body(status, 'INVALID_ARGUMENT', { message }) })

describe('signatures', () => {
  test('their refusal is known by its words', () => {
    expect(refused('Corrupted thought signature.')).toBeTrue()
    expect(refused('Invalid thought_signature in functionCall parts.')).toBeTrue()
    expect(
      refused('Function call is missing a thought_signature in functionCall parts.'),
    ).toBeTrue()
    expect(refused('Thought signature is not valid: corrupted.')).toBeTrue()
  })

  test('nothing else is one', () => {
    expect(refused('Invalid JSON payload received.')).toBeFalse()
    expect(refused('Corrupted thought signature.', 500)).toBeFalse()
    expect(isSignatureRejection({ status: 400, body: 'invalid thought signature?' })).toBeTrue()
    expect(isSignatureRejection({ status: 400, body: null })).toBeFalse()
  })
})

test('any body of an error becomes our own error without the secret', () => {
  const bodies = [null, '', `<html>${secret}</html>`, 7, [], [[]], {}, { error: `bad ${secret}` }]
  for (const status of [400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504]) {
    for (const errorBody of bodies) {
      const error = toApiError(status, errorBody)
      expect(error.name).toBe('ApiError')
      expect(JSON.stringify([error.message, error.details])).not.toContain(secret)
    }
  }
})
