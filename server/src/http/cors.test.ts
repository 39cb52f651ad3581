import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import { allowAnyOrigin } from './cors'
import type { Env } from './env'
import { renderError } from './render'
import { ApiError } from '../errors'

const app = new Hono<Env>()
  .use('*', allowAnyOrigin)
  .get('/good', () => new Response('ok', { headers: { vary: 'Accept-Encoding' } }))
  .get('/bad', () => {
    throw new ApiError('resource_not_found')
  })
app.onError((thrown) => {
  if (thrown instanceof ApiError) return renderError(thrown, 'req_1')
  throw thrown
})

const origin = 'https://app.example'

const corsOf = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

test('R21: a preflight is 200 without a key, and allows the requested headers', async () => {
  const requestedHeaders = 'authorization, x-stainless-retry-count'
  const { status, headers } = await app.request('/good', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-headers': requestedHeaders },
  })
  expect(status).toBe(200)
  expect(headers.get('access-control-allow-headers')).toBe(requestedHeaders)
  expect(headers.get('access-control-allow-methods')).toContain('POST')
  expect(headers.get('vary')).toContain('Access-Control-Request-Headers')
})

test('a preflight without requested headers allows the headers of a plain call', async () => {
  const { headers } = await app.request('/good', { method: 'OPTIONS', headers: { origin } })
  expect(headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type')
})

test.each([
  ['/good', 200],
  ['/bad', 404],
])('a page of any origin may read %s and our headers on it', async (path, status) => {
  const answer = await app.request(path, { headers: { origin } })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(answer.headers.get('access-control-expose-headers')).toContain('x-request-id')
})

test('no answer lets cookies along', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const { headers } = await app.request('/good', { method, headers: { origin } })
    expect(headers.has('access-control-allow-credentials')).toBe(false)
  }
})

test('keeps the Vary header that the answer has', async () => {
  const { headers } = await app.request('/good', { headers: { origin } })
  expect(headers.get('vary')).toContain('Accept-Encoding')
  expect(headers.get('vary')).toContain('Origin')
})

test('a caller that is not a browser receives no CORS headers', async () => {
  const { headers } = await app.request('/good')
  expect(corsOf(headers)).toEqual([])
})
