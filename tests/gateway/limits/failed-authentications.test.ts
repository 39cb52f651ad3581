import { expect, test } from 'bun:test'
import { newApiKey } from '../../../server/src/auth/api-key'
import { sendRequest } from '../../harness/http'
import { startGateway } from '../../harness/server'

test('R10: beyond 20 a minute 429 instead of 401; good keys are not held up', async () => {
  await using gateway = await startGateway({
    environment: { FAILED_AUTHENTICATIONS_PER_MINUTE: '' },
  })
  const { key } = await gateway.customer()
  const models = (bearer: string) =>
    sendRequest(gateway, { method: 'GET', path: '/v1/models', key: bearer })
  expect((await models(key)).status).toBe(200)
  for (let count = 0; count < 20; count++) {
    expect((await models(count % 2 ? newApiKey() : 'nonsense')).status).toBe(401)
  }
  const refused = await models(newApiKey())
  expect(refused.status).toBe(429)
  expect(refused.error).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { limit: 20, window: 60 },
  })
  expect(refused.headers.get('x-ratelimit-limit')).toBe('20')
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
  expect((await sendRequest(gateway, { body: {} })).status).toBe(429)
  expect((await models(key)).status).toBe(200)
  const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] }
  expect((await sendRequest(gateway, { key, body: chat })).status).toBe(200)
  gateway.recorder.verify()
})

test('S9: guesses of the operator key are 429 beyond 20 a minute; the operator is not held up', async () => {
  await using gateway = await startGateway({
    environment: { FAILED_AUTHENTICATIONS_PER_MINUTE: '' },
  })
  const users = (key: string) =>
    sendRequest(gateway, { method: 'GET', path: '/api/admin/users', key })
  expect((await users(gateway.adminKey)).status).toBe(200)
  const statuses: number[] = []
  for (let count = 0; count < 30; count++)
    statuses.push((await users(`guess-number-${count}`)).status)
  expect(statuses).toEqual(Array.from({ length: 30 }, (_, nth) => (nth < 20 ? 404 : 429)))
  const refused = await users('another-guess-of-it')
  expect(refused.error).toMatchObject({ code: 'rate_limit_exceeded', details: { window: 60 } })
  expect(refused.headers.has('retry-after')).toBeTrue()
  expect((await users(gateway.adminKey)).status).toBe(200)
  gateway.recorder.verify()
})
