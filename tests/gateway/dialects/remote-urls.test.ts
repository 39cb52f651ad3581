import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { completion } from '../../harness/byok'
import type { Answer, Json } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

const url = 'https://10.0.0.1/secret.png'
const data =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const said = (part: Json): Json => ({ messages: [{ role: 'user', content: [part] }] })
const image = (address: string) => said({ type: 'image_url', image_url: { url: address } })
const input = (item: Json) => ({ input: [{ role: 'user', content: [item] }] })
const outcome = ({ status, error }: Answer) => [status, error.param, error.details?.['issue']]
const capabilities = { vision: true }

let front: Front

beforeAll(async () => {
  front = await openFront((address) => ({
    REMOTE_URLS: '',
    // Redirected into a private network, it is an engine as any.
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${address}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: address,
  }))
  const { admin } = front.gateway
  for (const [key, options] of [
    ['engine', {}],
    ['trusted', { remote_urls: 'passed' }],
  ] as const) {
    const images = { models: [''], format: 'parts' }
    const provider = { key, name: key, adapter: 'openai', base_url: front.url }
    await admin('POST', '/providers', { ...provider, options: { embeddings: { images } } })
    const connection = { name: key, provider: key, api_key: upstreamSecret, options }
    await admin('POST', '/connections', connection)
    await front.price(`${key}/one`, { name: key, capabilities })
    await front.price(`${key}/embed`, { name: key, category: 'embedding' })
  }
  for (const model of ['openai/one', 'anthropic/one']) {
    await front.price(model, { name: model, capabilities })
  }
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

describe('finding S26: a server in the operator’s network', () => {
  const part = 'messages.0.content.0'
  const picture = { type: 'input_image', image_url: url }
  const file = { type: 'input_file', file_url: url }
  const source = { type: 'image', source: { type: 'url', url } }
  const embedded = [{ content: [{ type: 'image_url', image_url: { url } }] }]
  const chat = '/v1/chat/completions'
  test.each<[string, [path: string, body: Json], string]>([
    ['engine/one', [chat, image(url)], `${part}.image_url.url`],
    [
      'engine/one',
      [chat, said({ type: 'file', file: { file_data: url } })],
      `${part}.file.file_data`,
    ],
    ['engine/embed', ['/v1/embeddings', { input: embedded }], 'input.0.content.0.image_url.url'],
    ['openai/one', [chat, image(url)], `${part}.image_url.url`],
    ['openai/one', ['/v1/responses', input(picture)], 'input.0.content.0.image_url'],
    ['openai/one', ['/v1/responses', input(file)], 'input.0.content.0.file_url'],
    ['anthropic/one', [chat, image(url)], `${part}.image_url.url`],
  ])('%s is sent no address to fetch: %j', async (model, [path, fields], param) => {
    for (const stream of path === '/v1/embeddings' ? [false] : [false, true]) {
      const answer = await front.post(path, { model, ...fields, ...(stream && { stream }) })
      expect(outcome(answer)).toEqual([400, param, 'not_allowed'])
    }
    expect(front.requests).toEqual([])
  })

  test('a message fetches nothing either, translated, passed through or counted', async () => {
    const message = { max_tokens: 10, ...said(source) }
    const answers = [
      await front.post('/v1/messages', { model: 'engine/one', ...message }),
      await front.post('/v1/messages', { model: 'anthropic/one', ...message }),
      await front.post('/v1/messages/count_tokens', { model: 'anthropic/one', ...said(source) }),
      await front.post('/v1/responses', { model: 'engine/one', ...input(picture) }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
    expect(front.requests).toEqual([])
  })

  test('receives the content itself, and addresses that are text', async () => {
    front.answer = () => completion()
    for (const fields of [image(data), { messages: [{ role: 'user', content: url }] }]) {
      expect((await front.chat('engine/one', fields)).status).toBe(200)
    }
    expect(front.requests).toHaveLength(2)
  })

  test('receives addresses if the operator allows it', async () => {
    front.answer = () => completion()
    expect((await front.chat('trusted/one', image(url))).status).toBe(200)
    expect(front.requests[0]?.body['messages']).toEqual(image(url)['messages'])
  })
})
