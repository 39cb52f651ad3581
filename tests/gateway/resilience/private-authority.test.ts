import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { authority, completion, startUpstream, type Upstream } from '../../harness/byok'
import { sendRequest } from '../../harness/http'
import { startGateway, type Customer, type Gateway } from '../../harness/server'

/** The gateway trusts no authority but the system's; the upstream's certificate is of one of its own. */
let gateway: Gateway
let upstream: Upstream
let customer: Customer
const own = readFileSync(authority, 'utf8')
const other = readFileSync(
  join(import.meta.dir, '../../../server/testing/certificates/authority.pem'),
  'utf8',
)

beforeAll(async () => {
  upstream = startUpstream()
  upstream.answer = ({ path }) =>
    path.endsWith('/models') ? Response.json({ object: 'list', data: [{ id: 'm' }] }) : completion()
  gateway = await startGateway({ environment: { MINIMUM_BALANCE_USD: '0', GROQ_API_KEY: '' } })
  await gateway.admin('POST', '/models', {
    id: 'groq/m',
    name: 'M',
    category: 'chat',
    context_length: 8192,
    max_output_tokens: 100,
    pricing: { input: 1, output: 1 },
  })
  customer = await gateway.customer({}, { credit: 1 })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

async function connect(options: object): Promise<string> {
  const connection = await gateway.admin('POST', '/connections', {
    name: `authority-${crypto.randomUUID()}`,
    provider: 'groq',
    api_key: 'sk-of-a-private-server',
    endpoint_url: `${upstream.url}/openai/v1`,
    is_default: true,
    options,
  })
  return String(connection['id'])
}

async function chat() {
  const body = { model: 'groq/m', messages: [{ role: 'user', content: 'Hello' }] }
  const { status } = await sendRequest(gateway, { key: customer.key, body })
  return status
}

test.each([
  ['no authority', {}, 502],
  ['another authority', { certificate_authorities: other }, 502],
  ['its authority', { certificate_authorities: own }, 200],
  ['several authorities', { certificate_authorities: `${other}\n${own}` }, 200],
])('a connection with %s', async (_which, options, status) => {
  const id = await connect(options)
  upstream.requests.length = 0
  expect(await chat()).toBe(status)
  // The credential reaches only a server whose certificate was verified.
  expect(upstream.requests).toHaveLength(status === 200 ? 1 : 0)
  const tested = await gateway.admin('POST', `/connections/${id}/test`, {})
  expect(tested['success']).toBe(status === 200)
  await gateway.admin('DELETE', `/connections/${id}`)
})

test.each([
  ['not a certificate', 'secret'],
  ['a private key', readFileSync(authority.replace('.pem', '.key'), 'utf8')],
  ['a broken certificate', own.replace(/\n[\w+/]/, '\n*')],
  ['text around a certificate', `${own}\nhello`],
  ['nothing', ''],
  ['longer than 32,768 characters', own.repeat(Math.ceil(32_769 / own.length))],
])('an authority that is %s is rejected', async (_which, certificates) => {
  const response = await fetch(`${gateway.url}/api/admin/connections`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      name: 'rejected',
      provider: 'groq',
      api_key: 'sk-of-a-private-server',
      options: { certificate_authorities: certificates },
    }),
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([
    400,
    expect.stringContaining('options.certificate_authorities'),
  ])
  expect(text).not.toContain('PRIVATE KEY')
})
