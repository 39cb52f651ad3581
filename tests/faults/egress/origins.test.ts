import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { connect, createServer, type Server } from 'node:net'
import { eventually } from '../../../server/testing/eventually'
import { sendRequest, newChatClient, messages, type ChatClient } from '../../harness/http'
import { startRig, upstreamSecret, type Rig } from '../../harness/server'

/** What a caller writes into a request does not move it, or its credential, to another address. */

let rig: Rig
let client: ChatClient
let trap: Server
/** `http://127.0.0.1:<port>`, which must not be called. */
let trapUrl: string
let visits: number

beforeAll(async () => {
  rig = await startRig()
  client = await newChatClient(rig)
  trap = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  const address = trap.address()
  trapUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})
afterAll(async () => {
  trap.close()
  await rig[Symbol.asyncDispose]()
})
beforeEach(() => {
  visits = 0
  rig.upstream.reset()
})
afterEach(async () => {
  rig.gateway.recorder.verify()
  // The first to come is this one.
  connect(Number(new URL(trapUrl).port), '127.0.0.1').on('error', () => undefined)
  await eventually(() => visits > 0)
  expect(visits).toBe(1)
})

/** Where other gateways take an upstream's address from. */
const headers = [
  ...'x-api-base api-base x-base-url helicone-target-url helicone-openai-api-base'.split(' '),
  ...'x-portkey-custom-host x-portkey-config x-target-url x-litellm-api-base'.split(' '),
  ...'x-upstream-url x-forwarded-host x-original-url x-rewrite-url x-proxy-url forwarded'.split(
    ' ',
  ),
]

test.each(headers)('X15: %s is not an address of a provider', async (name) => {
  const model = await rig.model('ok')
  const { status } = await sendRequest(rig.gateway, {
    key: client.customer.key,
    headers: { [name]: trapUrl },
    body: { model, messages },
  })
  expect(status).toBe(200)
  const [seen] = rig.upstream.requests()
  expect(seen?.headers['authorization']).toBe(`Bearer ${upstreamSecret}`)
  expect(seen?.headers[name]).toBeUndefined()
})

const host = () => new URL(trapUrl).host
const fields: Record<string, () => Record<string, unknown>> = {
  api_base: () => ({ api_base: trapUrl }),
  base_url: () => ({ base_url: trapUrl, baseURL: trapUrl, base_url_override: trapUrl }),
  endpoint: () => ({ endpoint: trapUrl, endpoint_url: trapUrl, url: trapUrl }),
  extra_headers: () => ({ extra_headers: { host: host(), 'x-api-base': trapUrl } }),
  headers: () => ({ headers: { host: host(), location: trapUrl } }),
  extra_body: () => ({ extra_body: { api_base: trapUrl } }),
  provider: () => ({ provider: { base_url: trapUrl }, custom_llm_provider: 'openai' }),
  proxy: () => ({ proxy: trapUrl, http_proxy: trapUrl, https_proxy: trapUrl }),
  custom_host: () => ({ custom_host: trapUrl, host: host(), target: trapUrl }),
  callback: () => ({ webhook: trapUrl, callback_url: trapUrl, notify: trapUrl }),
  fallbacks: () => ({ fallbacks: [{ model: 'x', api_base: trapUrl, api_key: 'sk-x' }] }),
}

test.each(Object.entries(fields))(
  'X15: %s in a body is not an address either',
  async (_name, make) => {
    const { status } = await client.chat('ok', make())
    expect(status).toBe(200)
    const seen = rig.upstream.requests()
    expect(seen).toHaveLength(1)
    for (const one of seen) {
      expect(one.headers['authorization']).toBe(`Bearer ${upstreamSecret}`)
      expect(one.headers['host']).toBe(new URL(rig.upstream.url).host)
    }
  },
)

test.each([
  'fake/@127.0.0.1',
  'fake/../../admin',
  'http://127.0.0.1/x',
  'fake/ok?api_base=http://127.0.0.1',
  'fake\\ok',
  '//127.0.0.1/ok',
])('X15: the model "%s" is not an address', async (model) => {
  const body = { model, messages }
  const { status } = await sendRequest(rig.gateway, { key: client.customer.key, body })
  expect([400, 404]).toContain(status)
  expect(rig.upstream.requests()).toEqual([])
})

const parts: Record<string, () => unknown> = {
  image_url: () => ({ type: 'image_url', image_url: { url: `https://${host()}/cat.png` } }),
  file: () => ({ type: 'file', file: { file_data: `${trapUrl}/a.pdf`, filename: 'a.pdf' } }),
  file_url: () => ({ type: 'file', file: { file_url: `${trapUrl}/a.pdf` } }),
  input_audio: () => ({ type: 'input_audio', input_audio: { data: trapUrl, format: 'wav' } }),
  video_url: () => ({ type: 'video_url', video_url: { url: `${trapUrl}/a.mp4` } }),
}

test.each(Object.entries(parts))('X19: %s in a message is not fetched here', async (name, make) => {
  const content = [{ type: 'text', text: 'What is it?' }, make()]
  const model = await rig.model('ok-7', { capabilities: { vision: true } })
  const body = { model, messages: [{ role: 'user', content }] }
  const { status } = await sendRequest(rig.gateway, { key: client.customer.key, body })
  expect(status).toBe(name === 'video_url' ? 400 : 200)
  const [seen] = rig.upstream.requests()
  // The provider receives the address, and may use it as it likes.
  if (status === 200) expect(JSON.stringify(seen?.body)).toContain(host())
})

test('X19: addresses of tools are not fetched either', async () => {
  const server = { server_label: 'a', server_url: trapUrl, require_approval: 'never' }
  const { status, text } = await client.chat('ok', { tools: [{ type: 'mcp', ...server }] })
  expect([status, text]).toEqual([400, expect.stringContaining('tools')])
  const parameters = { type: 'object', properties: {}, $schema: trapUrl, $ref: trapUrl }
  const known = { type: 'function', function: { name: 'a', parameters } }
  expect((await client.chat('ok', { tools: [known] })).status).toBe(200)
})
