import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { call, createCustomer, problem } from '../../harness/byok'
import { startConnectProxy, type ConnectProxy } from '../../harness/connect-proxy'
import { sendRequest, type Json } from '../../harness/http'
import { PrivateAuthority } from '../../harness/private-authority'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { startSocksProxy, type SocksProxy } from '../../harness/socks-proxy'
import { startTlsUpstream, type TlsUpstream } from '../../harness/tls-upstream'

/** An upstream whose name does not resolve here, behind proxies that resolve it: one is spoken to in TLS. */
const host = 'models.private.invalid'
const password = 'canary-of-a-proxy-7f31'
const stack = new AsyncDisposableStack()
let gateway: Gateway
let upstream: TlsUpstream
let plain: ConnectProxy
let secure: ConnectProxy
let socks: SocksProxy
let authority: PrivateAuthority
let payer: Customer

beforeAll(async () => {
  authority = stack.use(new PrivateAuthority('Private'))
  upstream = stack.use(await startTlsUpstream(authority.issue('upstream', `DNS:${host}`)))
  plain = stack.use(await startConnectProxy())
  secure = stack.use(await startConnectProxy(authority.issue('proxy', 'IP:127.0.0.1')))
  socks = stack.use(await startSocksProxy())
  gateway = stack.use(
    await startGateway({ environment: { MINIMUM_BALANCE_USD: '0', GROQ_API_KEY: '' } }),
  )
  gateway.recorder.canary(password)
  gateway.recorder.canary(Buffer.from(`user:${password}`).toString('base64'))
  await gateway.admin('POST', '/models', {
    id: 'groq/m',
    name: 'M',
    category: 'chat',
    context_length: 8192,
    max_output_tokens: 100,
    pricing: { input: 1, output: 1 },
  })
  payer = await gateway.customer({}, { credit: 1 })
})
afterAll(() => stack.disposeAsync())
beforeEach(() => {
  gateway.recorder.verify()
  upstream.requests.length = 0
  for (const proxy of [plain, secure]) {
    proxy.requests.length = 0
    proxy.refusal = undefined
  }
  socks.requests.length = 0
  socks.password = undefined
  socks.code = 0
})

const plainUrl = () => `http://127.0.0.1:${plain.port}`
const secureUrl = () => `https://127.0.0.1:${secure.port}`
const socksUrl = () => `socks5://127.0.0.1:${socks.port}`

const fieldsOf = (network: Json) => ({
  name: crypto.randomUUID(),
  provider: 'groq',
  api_key: 'sk-behind-a-proxy',
  endpoint_url: `https://${host}:${upstream.port}/openai/v1`,
  is_default: true,
  network: { certificate_authorities: authority.certificate, ...network },
})

/** A platform connection for the time of a test. */
async function connectVia(network: Json) {
  const created = await gateway.admin('POST', '/connections', fieldsOf(network))
  const path = `/connections/${String(created['id'])}`
  return {
    created,
    path,
    [Symbol.asyncDispose]: async () => void (await gateway.admin('DELETE', path)),
  }
}

async function chat() {
  const body = { model: 'groq/m', messages: [{ role: 'user', content: 'Hello' }] }
  return (await sendRequest(gateway, { key: payer.key, body })).status
}

test('without its proxy the name does not resolve', async () => {
  await using _connection = await connectVia({})
  expect(await chat()).toBe(502)
})

test('the proxy resolves the name, and the tunnel serves the requests that follow', async () => {
  await using connection = await connectVia({ proxy: { url: plainUrl() } })
  expect([await chat(), await chat()]).toEqual([200, 200])
  const target = `${host}:${upstream.port}`
  expect(plain.requests).toEqual([`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`])
  expect(upstream.requests).toHaveLength(2)
  expect(plain.requests.join()).not.toContain('sk-behind-a-proxy')
  const tested = await gateway.admin('POST', `${connection.path}/test`, {})
  expect(tested['success']).toBe(true)
})

test('a proxy over TLS receives user and password, which no response shows', async () => {
  const proxy = { url: secureUrl(), username: 'user', password }
  const authorities = { certificate_authorities: authority.certificate }
  await using connection = await connectVia({ proxy: { ...proxy, ...authorities } })
  expect(await chat()).toBe(200)
  const basic = Buffer.from(`user:${password}`).toString('base64')
  expect(secure.requests.join()).toContain(`\r\nproxy-authorization: Basic ${basic}\r\n`)
  expect(upstream.requests.map(({ head }) => head).join()).not.toContain('proxy-authorization')
  expect(connection.created['network']).toMatchObject({
    proxy: {
      url: secureUrl(),
      username: 'user',
      certificate_authorities: [{ subject: 'CN=Private' }],
    },
  })
  expect(JSON.stringify(connection.created)).not.toContain(password)
})

test('without the authority of the proxy nothing reaches it', async () => {
  await using _connection = await connectVia({ proxy: { url: secureUrl() } })
  expect(await chat()).toBe(502)
  expect(secure.requests).toEqual([])
})

test('the upstream has to prove its name through the proxy too', async () => {
  const { network, ...fields } = fieldsOf({ proxy: { url: plainUrl() } })
  const endpoint_url = `https://other.private.invalid:${upstream.port}/openai/v1`
  const { id } = await gateway.admin('POST', '/connections', { ...fields, network, endpoint_url })
  expect(await chat()).toBe(502)
  expect(plain.requests).toHaveLength(1)
  expect(upstream.requests).toEqual([])
  await gateway.admin('DELETE', `/connections/${String(id)}`)
})

test.each([
  ['407', 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'],
  ['502', 'HTTP/1.1 502 Bad Gateway\r\n\r\n'],
])('a proxy that answers %s is named by the test of the connection', async (status, refusal) => {
  plain.refusal = refusal
  // Another user has no tunnel that was kept.
  await using connection = await connectVia({ proxy: { url: plainUrl(), username: status } })
  expect(await chat()).toBe(502)
  const tested = await gateway.admin('POST', `${connection.path}/test`, {})
  expect(tested['success']).toBe(false)
  expect(tested['message']).toContain(`the proxy answered with status ${status}`)
})

test('a SOCKS5 proxy resolves the name, and the tunnel serves the requests that follow', async () => {
  await using connection = await connectVia({ proxy: { url: `${socksUrl()}/` } })
  expect([await chat(), await chat()]).toEqual([200, 200])
  expect(socks.requests).toEqual([{ target: `${host}:${upstream.port}`, username: undefined }])
  expect(upstream.requests).toHaveLength(2)
  expect(connection.created['network']).toMatchObject({ proxy: { url: socksUrl() } })
  const tested = await gateway.admin('POST', `${connection.path}/test`, {})
  expect(tested['success']).toBe(true)
})

test('a SOCKS5 proxy receives user and password, which no response shows', async () => {
  socks.password = password
  const proxy = { url: socksUrl(), username: 'user', password }
  await using connection = await connectVia({ proxy })
  expect(await chat()).toBe(200)
  expect(socks.requests.map(({ username }) => username)).toEqual(['user'])
  expect(connection.created['network']).toMatchObject({ proxy: { username: 'user' } })
  expect(JSON.stringify(connection.created)).not.toContain(password)
})

test.each<[string, Json, string]>([
  ['of its rules', { code: 2 }, 'not allowed by its rules'],
  ['of the password', { password: 'another one' }, 'the proxy rejected user and password'],
])('a SOCKS5 proxy that refuses because %s is named by the test', async (_why, state, message) => {
  Object.assign(socks, state)
  const proxy = { url: socksUrl(), username: message, password }
  await using connection = await connectVia({ proxy })
  expect(await chat()).toBe(502)
  const tested = await gateway.admin('POST', `${connection.path}/test`, {})
  expect(tested['success']).toBe(false)
  expect(tested['message']).toContain(message)
  expect(upstream.requests).toEqual([])
})

test('a changed proxy serves the next request; removed, it serves none', async () => {
  await using connection = await connectVia({ proxy: { url: plainUrl(), username: 'before' } })
  expect(await chat()).toBe(200)
  await gateway.admin('PUT', connection.path, {
    network: { proxy: { url: secureUrl(), certificate_authorities: authority.certificate } },
  })
  expect(await chat()).toBe(200)
  expect([plain.requests.length, secure.requests.length]).toEqual([1, 1])
  await gateway.admin('PUT', connection.path, { network: { proxy: null } })
  expect(await chat()).toBe(502)
})

test.each<[string, Json, string]>([
  ['another scheme', { url: 'socks4://127.0.0.1:1080' }, 'network.proxy.url'],
  ['a user in a SOCKS5 address', { url: 'socks5://u:p@127.0.0.1:1080' }, 'network.proxy.url'],
  ['a path in a SOCKS5 address', { url: 'socks5://127.0.0.1:1080/p' }, 'network.proxy.url'],
  [
    'a password that SOCKS5 cannot send',
    { url: 'socks5://127.0.0.1:1080', username: 'u', password: 'ä'.repeat(128) },
    'network.proxy.password',
  ],
  [
    'authorities for SOCKS5',
    { url: 'socks5://127.0.0.1', certificate_authorities: 'AUTHORITY' },
    'network.proxy.certificate_authorities',
  ],
  ['a user in its address', { url: 'http://user:pass@127.0.0.1:3128' }, 'network.proxy.url'],
  ['a path', { url: 'http://127.0.0.1:3128/path' }, 'network.proxy.url'],
  [
    'a password without a user',
    { url: 'http://127.0.0.1:3128', password: 'p' },
    'network.proxy.username',
  ],
])('a proxy with %s is rejected', async (_which, proxy, param) => {
  const request = { path: '/api/admin/connections', key: gateway.adminKey }
  const answer = await sendRequest(gateway, { ...request, body: fieldsOf({ proxy }) })
  expect([answer.status, answer.error.param]).toEqual([400, param])
})

test('X11: a customer cannot set a proxy', async () => {
  const customer = await createCustomer(gateway)
  for (const url of [plainUrl(), socksUrl()]) {
    const fields = { ...fieldsOf({ proxy: { url } }), endpoint_url: undefined }
    const answer = await call(gateway, customer, 'POST /connections', fields)
    expect(problem(answer)).toEqual([400, 'network', 'wrong_type'])
    expect(answer.error.message).toContain('proxy')
  }
  expect([plain.requests, socks.requests]).toEqual([[], []])
})
