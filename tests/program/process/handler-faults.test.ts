import { afterAll, afterEach, beforeAll, expect, test, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { sendRequest, messages } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

// A busy machine takes long to start one.
setDefaultTimeout(90_000)

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig({ preload: join(import.meta.dir, 'preloads/faulty-headers.ts') })
  customer = await rig.gateway.customer()
  await rig.model('ok')
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => rig.gateway.recorder.verify())

const chat = { path: '/v1/chat/completions', body: { model: 'fake/ok', messages } }
const list = { path: '/v1/models', method: 'GET' }
const account = { path: '/api/connections', body: { name: 'x' } }

test.each(
  ['error', 'text', 'nothing', 'object'].flatMap((kind) =>
    [
      { ...chat, at: 'content-type' },
      { ...chat, at: 'authorization' },
      { ...list, at: 'authorization' },
      { ...account, at: 'content-type' },
    ].map((testCase) => [kind, testCase.at, testCase.path, testCase] as const),
  ),
)('H19: a handler that throws (%s, at %s of %s) is a 500 without details', async (...row) => {
  const [kind, at, , testCase] = row
  const headers = { 'x-fault': kind, 'x-fault-at': at }
  const { status, error, text } = await sendRequest(rig.gateway, {
    ...testCase,
    key: customer.key,
    headers,
  })
  expect([status, error.type, error.code]).toEqual([500, 'server_error', 'internal_error'])
  expect(error.request_id ?? JSON.parse(text).request_id).toMatch(/^req_/)
  expect(text).not.toMatch(/canary|secret|\.ts|stack|at \//)
  const after = await sendRequest(rig.gateway, { ...chat, key: customer.key })
  expect(after.status).toBe(200)
})
