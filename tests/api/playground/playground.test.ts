import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { signUp, type Browser } from '../../harness/browser-session'
import { openDatabase } from '../../harness/database'
import { parsed } from '../../harness/http'
import { mailEnvironment } from '../../harness/mail-environment'
import { startGateway, type Gateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let gateway: Gateway
let sql: SQL & AsyncDisposable
let browser: Browser

const path = '/api/playground/audio/speech'
const spoken = { model: 'sandbox/speech', input: 'Hello', response_format: 'wav' }

beforeAll(async () => {
  gateway = await startGateway({ environment: mailEnvironment })
  sql = await openDatabase(gateway.dataDir)
  browser = await signUp(gateway, sql, 'ada@example.com')
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
afterEach(() => gateway.recorder.verify())

/** Asks as a page does, with the cookies of the session unless they are left out. */
const ask = (headers: Record<string, string>, body: object = spoken) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const cookiesOf = ({ cookies }: Browser) =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

/** Expects a failure by its status and its code. */
async function expectFailure(answer: Promise<Response>, failure: readonly [number, string]) {
  const [status, code] = failure
  const response = await answer
  expect(response.status).toBe(status)
  expect(parsed(await response.text())).toMatchObject({ error: { code } })
}

test('a session may call it, and the request is logged as one to the model endpoint', async () => {
  const answer = await ask({ cookie: cookiesOf(browser), origin: gateway.url })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('audio/wav')
  expect(
    Buffer.from(await answer.arrayBuffer())
      .subarray(0, 4)
      .toString(),
  ).toBe('RIFF')
  const id = answer.headers.get('x-request-id') ?? ''
  const logs = () => sql`select endpoint, model, status from request_log where id = ${id}`
  await eventually(async () => (await logs()).length > 0)
  expect((await logs())[0]).toMatchObject({ endpoint: '/v1/audio/speech', status: 'success' })
})

test('its errors are those of the model endpoint', async () => {
  const headers = { cookie: cookiesOf(browser), origin: gateway.url }
  await expectFailure(ask(headers, { ...spoken, input: '' }), [400, 'invalid_request'])
  await expectFailure(ask(headers, { ...spoken, model: 'sandbox/nothing' }), [
    404,
    'model_not_found',
  ])
})

test('pages of another origin, callers without a session and keys that only read may not', async () => {
  const cookie = cookiesOf(browser)
  await expectFailure(ask({ cookie, origin: 'https://evil.example' }), [
    403,
    'insufficient_permissions',
  ])
  await expectFailure(ask({ origin: gateway.url }), [401, 'missing_api_key'])
  const { body } = await browser.send('POST /api/account/keys', {
    name: 'Reads',
    permissions: ['read'],
  })
  await expectFailure(ask({ authorization: `Bearer ${String(body['key'])}` }), [
    403,
    'insufficient_permissions',
  ])
})
