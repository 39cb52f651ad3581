import { describe, expect, test } from 'bun:test'
import { ownErrorFormat, renderError } from './render'
import { replayAnswer } from './idempotent-request'
import { getErrorFormat } from './error-format'
import { errorFormat as messages } from '../protocols/messages/error-format'
import { errorFormat as responses } from '../protocols/responses/error-format'
import { ApiError, errors, type ErrorCode } from '../errors'

const codes = Object.keys(errors).filter((code): code is ErrorCode => code in errors)
const errorFormats = { chat: ownErrorFormat, messages, responses }
const every = codes.flatMap((code) =>
  errors[code].statuses.flatMap((status) =>
    Object.entries(errorFormats).map(([format, errorFormat]) => ({
      code,
      status,
      format,
      errorFormat,
    })),
  ),
)

/** An error as it is thrown, with nothing said of repeats. */
const errorOf = (code: ErrorCode, fields: object = {}) =>
  new ApiError<ErrorCode>(code, { details: {}, ...fields })
const retryOf = (response: Response) => response.headers.get('x-should-retry')

describe('finding C3: marks errors that a retry cannot change, in every format', () => {
  test.each(every)('$code $status to $format', ({ code, status, errorFormat }) => {
    const answer = renderError(errorOf(code, { status }), 'req_1', errorFormat)
    expect(answer.status).toBe(status)
    expect(retryOf(answer)).toBe(status === 429 || status >= 500 ? null : 'false')
  })

  test.each(every.filter(({ status }) => status === 429 || status >= 500))(
    '$code $status to $format in the same format',
    ({ code, status, errorFormat }) => {
      const error = errorOf(code, { status, retryable: false })
      expect(retryOf(renderError(error, 'req_1', errorFormat))).toBe('false')
    },
  )

  test('a retryable error has a Retry-After', () => {
    const answer = renderError(errorOf('rate_limit_exceeded', { retryAfterSeconds: 1.2 }), 'req_1')
    expect(retryOf(answer)).toBeNull()
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(answer.headers.get('retry-after-ms')).toBe('1200')
  })
})

test.each([400, 402, 404, 429, 502, 503])(
  'finding C3: %d that was stored for an Idempotency-Key is replayed unchanged, and marked as such',
  (status) => {
    const stored = { requestId: 'req_1', status, headers: {}, body: new Uint8Array() }
    expect(retryOf(replayAnswer(stored))).toBe('false')
  },
)

const requestFor = (accept: string) =>
  getErrorFormat(
    new Request('http://localhost:8080/v1/responses', { method: 'POST', headers: { accept } }),
  )

describe('a client of /v1/responses that takes nothing but streams', () => {
  const tooLong = errorOf('context_length_exceeded', {
    message: "This model's maximum context length is 8 tokens.",
    details: { max_context: 8, requested: 9 },
  })

  test('finding P4: reads that a prompt is too long as Codex does, in response.failed', async () => {
    const answer = renderError(tooLong, 'req_1', requestFor('text/event-stream'))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(retryOf(answer)).toBe('false')
    const events = (await answer.text())
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line): unknown => JSON.parse(line.slice('data: '.length)))
    expect(events).toMatchObject([
      { type: 'response.created', sequence_number: 0, response: { status: 'in_progress' } },
      {
        type: 'response.failed',
        sequence_number: 1,
        response: {
          id: 'resp_1',
          status: 'failed',
          output: [],
          error: { code: 'context_length_exceeded', message: tooLong.message },
        },
      },
    ])
  })

  test('reads all else by its status, and so do clients that take JSON', () => {
    for (const code of codes) {
      const error = code === 'context_length_exceeded' ? errorOf('invalid_request') : errorOf(code)
      expect(renderError(error, 'req_1', requestFor('text/event-stream')).status).toBe(error.status)
    }
    expect(renderError(tooLong, 'req_1', requestFor('application/json')).status).toBe(400)
    expect(renderError(tooLong, 'req_1', requestFor('*/*')).status).toBe(400)
  })
})

test('a stored successful answer has no such mark', () => {
  const stored = { requestId: 'req_1', status: 200, headers: {}, body: new Uint8Array() }
  expect(retryOf(replayAnswer(stored))).toBeNull()
})
