import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import type { Env } from './env'
import { rejectNulBytes } from './reject-nul-bytes'
import { ApiError } from '../errors'

const app = new Hono<Env>()
  .use('*', rejectNulBytes)
  .get('/things/:id?', (c) => c.text('ok'))
  .onError((thrown, c) => {
    if (!(thrown instanceof ApiError)) throw thrown
    return c.text(`${thrown.code} ${thrown.param}`)
  })

test.each([
  ['/things/a', 'ok'],
  ['/things/a%00', 'resource_not_found null'],
  ['/things?search=a%00', 'invalid_request search'],
  ['/things?search=a&search=%00', 'invalid_request search'],
  // No route reads it.
  ['/things?a%00=1', 'ok'],
])('%s is answered with %s', async (path, answer) => {
  expect(await (await app.request(path)).text()).toBe(answer)
})
