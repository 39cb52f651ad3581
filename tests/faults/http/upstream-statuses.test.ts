import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { startRig, upstreamSecret, type Rig } from '../../harness/server'
import { newChatClient, type Answer, type ChatClient } from '../../harness/http'

let rig: Rig
let client: ChatClient

beforeAll(async () => {
  rig = await startRig()
  client = await newChatClient(rig)
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => {
  rig.gateway.recorder.verify()
  expect(rig.gateway.output()).not.toContain(upstreamSecret)
})

const summary = ({ status, error, headers }: Answer) => ({
  status,
  code: error.code,
  type: error.type,
  shouldRetry: headers.get('x-should-retry'),
  retryAfter: headers.get('retry-after'),
})

const refusedFor = (
  status: number,
  shouldRetry: string | null,
  retryAfter: string | null = null,
) => ({
  status,
  code: 'provider_error',
  type: 'gateway_error',
  shouldRetry,
  retryAfter,
})

/** Whether a stream was asked for makes no difference before its first event. */
describe.each([[false], [true]])('with stream %p', (stream) => {
  const ask = (name: string, fields = {}) => client.chat(name, { stream, ...fields })

  test.each([
    ['status-401', refusedFor(502, 'false')],
    ['status-402', refusedFor(502, 'false')],
    ['status-403', refusedFor(502, 'false')],
    ['status-404', refusedFor(502, 'false')],
    ['status-408', refusedFor(502, 'false')],
    ['status-409', refusedFor(502, 'false')],
    ['status-429', refusedFor(503, null)],
    ['status-500', refusedFor(502, null)],
    ['status-502', refusedFor(502, null)],
    ['status-503', refusedFor(503, null)],
    ['status-504', refusedFor(502, null)],
    ['status-529', refusedFor(503, null)],
    ['429-1', refusedFor(503, null, '1')],
    ['429-3600', refusedFor(503, null, '3600')],
    ['429-0', refusedFor(503, null, '1')],
    ['429-soon', refusedFor(503, null)],
  ])('U09: %s is reported without its status becoming ours', async (name, expected) => {
    const answer = await ask(name)
    expect(summary(answer)).toEqual(expected)
    expect(answer.error.param).toBeNull()
    expect(answer.error.details).toEqual({
      provider: 'fake',
      provider_error: expect.any(String),
    })
    recordFigure(`U09: ${name} is answered after, stream ${stream}`, answer.tookMs, {
      unit: 'ms',
      atMost: 1000,
    })
  })

  test.each(['status-400', 'status-413', 'status-422'])(
    'finding P9: %s is the request’s fault, in the provider’s words',
    async (name) => {
      const seen = rig.upstream.requests().length
      const answer = await ask(name)
      expect(summary(answer)).toEqual({
        status: 400,
        code: 'invalid_request',
        type: 'invalid_request_error',
        shouldRetry: 'false',
        retryAfter: null,
      })
      expect(answer.error.param).toBeNull()
      expect(answer.error.details).toEqual({ issue: 'refused_by_provider' })
      expect(rig.upstream.requests()).toHaveLength(seen + 1)
    },
  )

  test('finding P9: a rejected request opens no breaker, at any number', async () => {
    const body = '{"error":{"message":"No such tool."}}'
    rig.upstream.serve('rejecting', { status: 400, body })
    for (let count = 0; count < 25; count++) {
      const { status, error } = await ask('rejecting')
      expect([status, error.code, error.message]).toEqual([400, 'invalid_request', 'No such tool.'])
    }
    rig.upstream.serve('rejecting', { status: 500, body })
    expect((await ask('rejecting')).status).toBe(502)
  })

  test('U09: a date in Retry-After becomes seconds', async () => {
    const date = new Date(Date.now() + 90_000).toUTCString()
    const body = '{"error":{"message":"later"}}'
    rig.upstream.serve('dated', { status: 429, headers: { 'retry-after': date }, body })
    const seconds = Number((await ask('dated')).headers.get('retry-after'))
    expect(seconds).toBeLessThan(91)
    expect(Date.now() + (seconds + 1) * 1000).toBeGreaterThanOrEqual(Date.parse(date))
  })

  test.each(['double', 'chain-10'])(
    'U15: a body that is not compressed as %s is rejected',
    async (name) => {
      const answer = await ask(name)
      expect(summary(answer)).toEqual(refusedFor(502, 'false'))
      expect(answer.error.message).toContain('unreadable')
    },
  )

  test.each([
    ['html-200', 502],
    ['html-500', 502],
    ['empty-200', 502],
    ['204', 502],
    ['json-array', 502],
    ['half-json', stream ? 200 : 502],
    ['wrong-type', 200],
    ['302-http://127.0.0.1:9/', 502],
    ['err-first', 503],
  ])('U06 U07: %s is provider_error and nothing of its markup leaves', async (name, status) => {
    const answer = await ask(name)
    const seen = rig.upstream.requests().length
    expect(answer.status).toBe(status)
    expect(answer.text).not.toContain('<')
    if (status === 200) return
    expect(answer.error.code).toBe('provider_error')
    const providerError = answer.error.details?.['provider_error']
    expect(String(providerError).length).toBeLessThanOrEqual(300)
    // Neither followed nor asked again.
    expect(rig.upstream.requests()).toHaveLength(seen)
  })

  test('a redirect is not followed', async () => {
    rig.upstream.reset()
    await ask(`302-${rig.upstream.url}/models`)
    expect(rig.upstream.requests()).toHaveLength(1)
  })

  test('R17: no error but 429 mentions rate limits, for any text of the provider', async () => {
    for (const [status, message] of [
      [429, 'Rate limit reached'],
      [429, ''],
      [400, 'rate_limit: error 429, you hit the RATE-LIMIT (HTTP 429)'],
      [403, 'rate_limit: error 429, you hit the RATE-LIMIT (HTTP 429)'],
      [503, 'ratelimit'],
    ] as const) {
      const body = message === '' ? '' : JSON.stringify({ error: { message } })
      rig.upstream.serve('limited', { status, body })
      const { error } = await ask('limited')
      expect(error.code).toBe(status === 400 ? 'invalid_request' : 'provider_error')
      expect(JSON.stringify(error)).not.toMatch(/rate[\s_-]*limit|\b429\b/i)
    }
  })

  test('R16: the provider’s own words for a prompt that is too long are our 400', async () => {
    const { status, error } = await ask('context-error')
    expect(status).toBe(400)
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'messages',
      details: { max_context: 8192 },
    })
    expect(error.message).toContain('maximum context length is 8192 tokens')
  })

  test('an output limit that the provider refuses is max_tokens_exceeded', async () => {
    const message = 'max_tokens is too large: 4000. This model supports at most 2048 tokens.'
    const body = JSON.stringify({ error: { message, code: 'invalid_value', param: 'max_tokens' } })
    rig.upstream.serve('capped', { status: 400, body })
    const { status, error } = await ask('capped', { max_tokens: 4000 })
    expect([status, error.code, error.param]).toEqual([400, 'max_tokens_exceeded', 'max_tokens'])
  })

  test('a field of the caller’s that the provider refuses is the caller’s fault', async () => {
    const sent = await ask('field-error', { temperature: 1 })
    expect(sent.status).toBe(400)
    expect(sent.error).toMatchObject({
      code: 'invalid_request',
      param: 'temperature',
      details: { issue: 'refused_by_provider' },
    })
    const unsent = await ask('field-error')
    expect([unsent.status, unsent.error.code, unsent.error.param]).toEqual([
      400,
      'invalid_request',
      null,
    ])
  })

  test('a refusal by the provider’s filter is content_filter', async () => {
    const body = '{"error":{"code":"content_filter","message":"The prompt was filtered."}}'
    rig.upstream.serve('filtered', { status: 400, body })
    const { status, error } = await ask('filtered')
    expect([status, error.param, error.details]).toEqual([
      400,
      'messages',
      { issue: 'content_filter' },
    ])
  })

  test('I15: a credential that the provider repeats does not leave', async () => {
    const answer = await ask('canary-echo')
    expect(answer.status).toBe(502)
    expect(answer.text).not.toContain(upstreamSecret)
    expect(JSON.stringify([...answer.headers])).not.toContain(upstreamSecret)
    expect(rig.gateway.output()).not.toContain(upstreamSecret)
  })

  test('I15: a credential with 300 characters before it, or inside a 200, does not leave either', async () => {
    const message = `${'x'.repeat(290)} ${upstreamSecret} at http://10.0.0.7:8000/v1 <b>10.0.0.7</b>`
    for (const status of [200, 500]) {
      rig.upstream.serve('leaky', { status, body: JSON.stringify({ error: { message } }) })
      const answer = await ask('leaky')
      expect(answer.status).toBeOneOf([502, 503])
      expect(answer.text).not.toContain(upstreamSecret.slice(0, 12))
      expect(answer.text).not.toContain('10.0.0.7')
    }
  })

  test('nothing of the caller’s headers goes to the provider, and its own key alone does', async () => {
    await ask('ok')
    const headers = rig.upstream.requests().at(-1)?.headers ?? {}
    expect(headers['authorization']).toBe(`Bearer ${upstreamSecret}`)
    expect(JSON.stringify(headers)).not.toContain(client.customer.key)
  })
})
