import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { toGoogleError } from './google/failure'
import { ApiError } from '../errors'
import { errorSource, secret, toApiError } from '../../testing/providers/error-samples'
import { recordTimeFigure } from '../../testing/figures'

const names = ['error', 'message', 'detail', 'errors', 'metadata', 'raw', 'code', 'type', 'choices']
const piece = fc.oneof(
  fc.string(),
  fc.constantFrom(
    secret,
    'maximum context length is 8 tokens',
    'sk-ab***yz',
    '{"error":{"message":"inner"}}',
    '[',
  ),
)
/** Bodies whose fields are those that are read, of any shape and as text within text. */
const { body: anyBody } = fc.letrec<{ body: unknown }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    piece,
    fc.constantFrom(null, true, 0, 429, 1e300, -1),
    fc.dictionary(fc.constantFrom(...names), tie('body'), { maxKeys: 4 }),
    fc.array(tie('body'), { maxLength: 3 }),
    fc
      .dictionary(fc.constantFrom(...names), tie('body'), { maxKeys: 3 })
      .map((inner) => JSON.stringify(inner)),
  ),
}))

test.each(['code', 'n_ctx', 'n_prompt_tokens', 'type', 'param', 'message'])(
  '%s may be an object that is neither number nor text',
  (name) => {
    const value = { toString: 0, valueOf: 0 }
    const core = { message: 'prompt is too long', [name]: value }
    for (const status of [200, 400, 429, 500]) {
      for (const body of [core, { error: core }, [{ error: core }]]) {
        expect(toApiError(status, body)).toBeInstanceOf(ApiError)
        expect(toGoogleError({ status, body }, errorSource)).toBeInstanceOf(ApiError)
      }
    }
    const violated = { '@type': value, retryDelay: value, fieldViolations: [{ field: value }] }
    const body = { error: { message: 'No.', details: [violated] } }
    expect(toGoogleError({ status: 400, body }, errorSource)).toBeInstanceOf(ApiError)
  },
)

test('any error of a provider becomes our own error, short and without the key', () => {
  const statuses = fc.constantFrom(200, 400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503, 529)
  const property = fc.property(statuses, anyBody, (status, body) => {
    const error = toApiError(status, body)
    expect(toGoogleError({ status, body }, errorSource)).toBeInstanceOf(ApiError)
    expect([400, 502, 503]).toContain(error.status)
    expect(error.message.length).toBeWithin(1, 500)
    expect(JSON.stringify([error.message, error.details])).not.toContain(secret)
    if (error.status === 400) expect(error.retryable).toBeFalse()
  })
  fc.assert(property, { numRuns: 2000 })
})

test('a body of nothing but nesting is read in no time', async () => {
  let body: unknown = 'x'
  for (let at = 0; at < 2000; at++) body = { error: body, message: { detail: [body] } }
  const name = 'an error of 2,000 levels'
  const error = await recordTimeFigure(name, { atMost: 200 }, async () => toApiError(500, body))
  expect(error.code).toBe('provider_error')
})
