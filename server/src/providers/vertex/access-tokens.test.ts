import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { AccessTokens, type TokenPorts } from './access-tokens'
import type { ServiceAccount } from './service-account'
import type { ErrorSource } from '../upstream-error'

const source: ErrorSource = {
  provider: 'vertex',
  secret: null,
  textField: 'messages',
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}
const account: ServiceAccount = {
  projectId: 'p-1',
  email: 'gate@p-1.iam.gserviceaccount.com',
  key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  keyId: undefined,
  tokenUrl: 'https://oauth2.googleapis.com/token',
}
const minuteMs = 60_000

/** Google's token address, a clock that stands still, and a deadline that is passed by hand. */
function world(answer: (count: number) => Response | Promise<Response>) {
  const sentRequests: Parameters<TokenPorts['send']>[0][] = []
  const late = new AbortController()
  const at = { nowMs: 1_700_000_000_000 }
  const tokens = new AccessTokens(
    account,
    {
      send: (call) => {
        sentRequests.push(call)
        return Promise.resolve(answer(sentRequests.length))
      },
      now: () => at.nowMs,
      deadline: () => late.signal,
    },
    source,
  )
  return { tokens, sentRequests, late, at }
}

const granted = (value: string, seconds = 3600) =>
  Response.json({ access_token: value, expires_in: seconds, token_type: 'Bearer' })

test('it sends a signed claim, as a form', async () => {
  const { tokens, sentRequests } = world(() => granted('t'))
  expect(await tokens.get()).toBe('t')
  expect(sentRequests[0]).toMatchObject({
    url: 'https://oauth2.googleapis.com/token',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const form = new URLSearchParams(sentRequests[0]?.body)
  expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
  expect(form.get('assertion')?.split('.')).toHaveLength(3)
})

test('a token serves until five minutes before its end', async () => {
  const { tokens, sentRequests, at } = world((count) => granted(`t${count}`))
  expect(await tokens.get()).toBe('t1')
  at.nowMs += 54 * minuteMs
  expect(await tokens.get()).toBe('t1')
  at.nowMs += minuteMs
  expect(await tokens.get()).toBe('t2')
  expect(sentRequests).toHaveLength(2)
})

test('any number of waiting calls share one request for a token; later ones start another', async () => {
  const { tokens, sentRequests } = world((count) => granted(`t${count}`, 1))
  expect(await Promise.all([tokens.get(), tokens.get(), tokens.get()])).toEqual(['t1', 't1', 't1'])
  expect(sentRequests).toHaveLength(1)
  expect(await tokens.get()).toBe('t2')
})

test('a failed renewal keeps the old token in use, and is not repeated at once', async () => {
  const { tokens, sentRequests, at } = world((count) =>
    count === 1 ? granted('t1') : new Response('', { status: 500 }),
  )
  await tokens.get()
  at.nowMs += 56 * minuteMs
  expect(await tokens.get()).toBe('t1')
  expect(await tokens.get()).toBe('t1')
  expect(sentRequests).toHaveLength(2)
  at.nowMs += 11_000
  expect(await tokens.get()).toBe('t1')
  expect(sentRequests).toHaveLength(3)
  // Too near to its end it might end on the way.
  at.nowMs += 4 * minuteMs
  await expect(tokens.get()).rejects.toMatchObject({ code: 'provider_error', retryable: true })
})

test('a rejected token is evicted, a newer one is not', async () => {
  const { tokens } = world((count) => granted(`t${count}`))
  expect(await tokens.get()).toBe('t1')
  tokens.invalidate('t1')
  expect(await tokens.get()).toBe('t2')
  tokens.invalidate('t1')
  expect(await tokens.get()).toBe('t2')
})

describe('failures', () => {
  test.each([400, 401, 403])('%d: the account is rejected, a repeat is useless', async (status) => {
    const body = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }
    const { tokens } = world(() => Response.json(body, { status }))
    await expect(tokens.get()).rejects.toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: false,
      cause: { status: 401 },
    })
  })

  test.each([429, 503])('%d: Google is busy', async (status) => {
    const { tokens } = world(() => new Response('', { status }))
    await expect(tokens.get()).rejects.toMatchObject({ code: 'provider_error', status: 503 })
  })

  test.each(['', '{}', '{"access_token":""}', '{"access_token":"t","expires_in":"1"}', '[]'])(
    'an answer of %p holds no token',
    async (body) => {
      const { tokens } = world(() => new Response(body))
      await expect(tokens.get()).rejects.toMatchObject({ code: 'provider_error', status: 502 })
    },
  )

  test('reports a lost connection, and requests a token again the next time', async () => {
    const lost = new Error('lost')
    const { tokens } = world((count) => (count === 1 ? Promise.reject(lost) : granted('t2')))
    await expect(tokens.get()).rejects.toBe(lost)
    expect(await tokens.get()).toBe('t2')
  })

  test('a request without an answer ends at the deadline, even if the signal is ignored', async () => {
    const { tokens, late, sentRequests } = world(() => new Promise<Response>(() => {}))
    const waiting = Promise.allSettled([tokens.get(), tokens.get()])
    late.abort()
    const reason = expect.objectContaining({ code: 'request_timeout', status: 504 })
    const rejected = { status: 'rejected' as const, reason }
    expect(await waiting).toEqual([rejected, rejected])
    expect(sentRequests).toHaveLength(1)
  })
})
