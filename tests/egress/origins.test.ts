import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { ask, asking, messages, type Asking } from '../faults/asking'
import { startRig, upstreamSecret, type Rig } from '../rig'

/** What a caller writes into a request does not move it, or its credential, to another address. */

let rig: Rig
let asked: Asking
let trap: Server
/** `http://127.0.0.1:<port>`, where nobody may come. */
let elsewhere: string
let visits: number

beforeAll(async () => {
  rig = await startRig()
  asked = await asking(rig)
  trap = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  const address = trap.address()
  elsewhere = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
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
  // Whoever fetches in the background has had a moment.
  await Bun.sleep(50)
  expect(visits).toBe(0)
})

/** Where other gateways take an upstream's address from. */
const headers = [
  ...'x-api-base api-base x-base-url helicone-target-url helicone-openai-api-base'.split(' '),
  ...'x-portkey-custom-host x-portkey-config x-target-url x-litellm-api-base'.split(' '),
  ...'x-upstream-url x-forwarded-host x-original-url x-rewrite-url x-proxy-url forwarded'.split(
    ' ',
  ),
]

test.each(headers)('X15: %s is no address of a provider', async (name) => {
  const model = await rig.model('ok')
  const { status } = await ask(rig.gateway, {
    key: asked.customer.key,
    headers: { [name]: elsewhere },
    body: { model, messages },
  })
  expect(status).toBe(200)
  const [seen] = rig.upstream.seen()
  expect(seen?.headers['authorization']).toBe(`Bearer ${upstreamSecret}`)
  expect(seen?.headers[name]).toBeUndefined()
})

const host = () => new URL(elsewhere).host
const fields: Record<string, () => Record<string, unknown>> = {
  api_base: () => ({ api_base: elsewhere }),
  base_url: () => ({ base_url: elsewhere, baseURL: elsewhere, base_url_override: elsewhere }),
  endpoint: () => ({ endpoint: elsewhere, endpoint_url: elsewhere, url: elsewhere }),
  extra_headers: () => ({ extra_headers: { host: host(), 'x-api-base': elsewhere } }),
  headers: () => ({ headers: { host: host(), location: elsewhere } }),
  extra_body: () => ({ extra_body: { api_base: elsewhere } }),
  provider: () => ({ provider: { base_url: elsewhere }, custom_llm_provider: 'openai' }),
  proxy: () => ({ proxy: elsewhere, http_proxy: elsewhere, https_proxy: elsewhere }),
  custom_host: () => ({ custom_host: elsewhere, host: host(), target: elsewhere }),
  callback: () => ({ webhook: elsewhere, callback_url: elsewhere, notify: elsewhere }),
  fallbacks: () => ({ fallbacks: [{ model: 'x', api_base: elsewhere, api_key: 'sk-x' }] }),
}

test.each(Object.entries(fields))('X15: nor is %s in a body', async (name, make) => {
  const { status } = await asked.chat('ok', make())
  // A field of ours, which has another shape.
  expect(status).toBe(name === 'provider' ? 400 : 200)
  const seen = rig.upstream.seen()
  expect(seen).toHaveLength(status === 200 ? 1 : 0)
  for (const one of seen) {
    expect(one.headers['authorization']).toBe(`Bearer ${upstreamSecret}`)
    expect(one.headers['host']).toBe(new URL(rig.upstream.url).host)
  }
})

test.each([
  'fake/@127.0.0.1',
  'fake/../../admin',
  'http://127.0.0.1/x',
  'fake/ok?api_base=http://127.0.0.1',
  'fake\\ok',
  '//127.0.0.1/ok',
])('X15: the model "%s" is no address', async (model) => {
  const body = { model, messages }
  const { status } = await ask(rig.gateway, { key: asked.customer.key, body })
  expect([400, 404]).toContain(status)
  expect(rig.upstream.seen()).toEqual([])
})

const parts: Record<string, () => unknown> = {
  image_url: () => ({ type: 'image_url', image_url: { url: `https://${host()}/cat.png` } }),
  file: () => ({ type: 'file', file: { file_data: `${elsewhere}/a.pdf`, filename: 'a.pdf' } }),
  file_url: () => ({ type: 'file', file: { file_url: `${elsewhere}/a.pdf` } }),
  input_audio: () => ({ type: 'input_audio', input_audio: { data: elsewhere, format: 'wav' } }),
  video_url: () => ({ type: 'video_url', video_url: { url: `${elsewhere}/a.mp4` } }),
}

test.each(Object.entries(parts))(
  'X19: %s in a message is fetched by nobody here',
  async (name, make) => {
    const content = [{ type: 'text', text: 'What is it?' }, make()]
    const model = await rig.model('ok-7', { capabilities: { vision: true } })
    const body = { model, messages: [{ role: 'user', content }] }
    const { status } = await ask(rig.gateway, { key: asked.customer.key, body })
    expect(status).toBe(name === 'video_url' ? 400 : 200)
    const [seen] = rig.upstream.seen()
    // The provider is told the address, and may do with it what it likes.
    if (status === 200) expect(JSON.stringify(seen?.body)).toContain(host())
  },
)

test('X19: nor are the addresses of tools', async () => {
  const server = { server_label: 'a', server_url: elsewhere, require_approval: 'never' }
  const { status, text } = await asked.chat('ok', { tools: [{ type: 'mcp', ...server }] })
  expect([status, text]).toEqual([400, expect.stringContaining('tools')])
  const parameters = { type: 'object', properties: {}, $schema: elsewhere, $ref: elsewhere }
  const known = { type: 'function', function: { name: 'a', parameters } }
  expect((await asked.chat('ok', { tools: [known] })).status).toBe(200)
})
