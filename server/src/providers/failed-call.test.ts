import { describe, expect, test } from 'bun:test'
import { toCallerError } from './upstream-error'
import { sampleSource } from '../../testing/providers/samples'

const toApiError = (status: number, fields: object) =>
  toCallerError({ status, body: { error: { message: 'No.', ...fields } } }, sampleSource)

describe('finding V2: a call of the model that its provider could not read', () => {
  const failed_generation = `<function=look>{"q": ${sampleSource.secret}}</function>`
  const fields = { type: 'invalid_request_error', code: 'tool_use_failed', failed_generation }

  test.each([400, 200])(
    'by a status %d: another try may help, and clients receive the text',
    (status) => {
      expect(toApiError(status, fields)).toMatchObject({
        code: 'provider_error',
        status: 502,
        retryable: true,
        details: {
          provider: 'acme',
          provider_error: 'No.',
          failed_generation: '<function=look>{"q": [secret]}</function>',
        },
      })
    },
  )

  test('a long text is cut, and a missing one is absent', () => {
    const long = toApiError(400, { ...fields, failed_generation: 'x'.repeat(20_000) })
    expect(long.details['failed_generation']).toHaveLength(16_384)
    const none = toApiError(400, { ...fields, failed_generation: null })
    expect(none.details).toEqual({ provider: 'acme', provider_error: 'No.' })
  })
})
