import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'
import {
  allowLoopback,
  startUpstream,
  upstreamEnvironment,
  type Upstream,
} from '../../harness/byok'
import type { FormFields } from '../../harness/http'
import { pngOf } from '../../harness/upstreams/drawings'

const path = '/v1/images/variations'
const byImage = { category: 'image', pricing: { input: 0, output: 0, made_image: 0.02 } }
const png = pngOf(64, 64)
const pngBytes = Buffer.from(png, 'base64')
const file = new File([pngBytes], 'lighthouse.png', { type: 'image/png' })
const images = [{ image_url: `data:image/png;base64,${png}` }]

let fixture: Fixture
let host: Upstream

beforeAll(async () => {
  host = startUpstream()
  fixture = await createFixture({ environment: { ...upstreamEnvironment(host), REMOTE_URLS: '' } })
  await allowLoopback(fixture.rig.gateway)
  await fixture.model('ok', byImage)
  for (const edits of ['xai', 'none', 'openrouter']) {
    await fixture.addProvider(`${edits}-like`, { images: { edits } })
    await fixture.addModel(`${edits}-like/ok`, byImage)
  }
  await fixture.addProvider('bfl-like', { images: { form: 'bfl' } })
  await fixture.addModel('bfl-like/flux-kontext-pro', byImage)
})
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
})
afterEach(() => fixture.verify())

const vary = async (body: Record<string, unknown>) => {
  const response = await fixture.post(path, { model: 'fake/ok', images, ...body })
  return { response, body: jsonOf(await response.json()) }
}
const varyForm = (fields: FormFields) => fixture.postForm(path, { model: 'fake/ok', ...fields })
const sentFile = {
  filename: 'image-0.png',
  type: 'image/png',
  bytes: pngBytes.length,
  sha256: createHash('sha256').update(pngBytes).digest('hex'),
  seconds: 0,
}

describe('a provider receives the image as a file', () => {
  test('of a data URL', async () => {
    const { response, body } = await vary({ n: 2, size: '512x512', response_format: 'url' })
    expect(response.status).toBe(200)
    expect(body).toMatchObject({
      model: 'fake/ok',
      data: [{ url: 'https://images.example/one.png' }, { url: 'https://images.example/one.png' }],
    })
    expect(fixture.sent()).toEqual({
      model: 'ok',
      n: '2',
      size: '512x512',
      response_format: 'url',
      image: sentFile,
    })
  })

  test('of a form', async () => {
    const response = await varyForm({
      image: file,
      n: '2',
      response_format: 'b64_json',
      user: 'me',
    })
    expect(response.status).toBe(200)
    expect(fixture.sent()).toEqual({
      model: 'ok',
      n: '2',
      response_format: 'b64_json',
      user: expect.any(String),
      image: sentFile,
    })
  })

  test('of an address, which the service fetches', async () => {
    host.answer = () => new Response(pngBytes)
    const { response } = await vary({ images: [{ image_url: `${host.url}/lighthouse.png` }] })
    expect(response.status).toBe(200)
    expect(fixture.sent()).toEqual({ model: 'ok', image: sentFile })
    expect(host.requests.map((request) => request.path)).toEqual(['/lighthouse.png'])
  })
})

test.each(['fake/ok', 'sandbox/image'])(
  'the official client varies an image of %s',
  async (model) => {
    const { data } = await fixture.client.images.createVariation({
      model,
      image: file,
      n: 2,
      size: '256x256',
      response_format: 'b64_json',
    })
    expect(data?.map(({ b64_json: one }) => one?.slice(0, 11))).toEqual(
      Array(2).fill('iVBORw0KGgo'),
    )
  },
)

test('a repeat of a form is answered once', async () => {
  const before = fixture.rig.upstream.requests().length
  const { key } = fixture.customer
  const send = () =>
    fixture.fetch(`${fixture.rig.gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'idempotency-key': 'variation-1',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'fake/ok', images }),
    })
  const first = await (await send()).text()
  expect(await (await send()).text()).toBe(first)
  expect(fixture.rig.upstream.requests()).toHaveLength(before + 1)
})

describe('wrong fields are rejected with the field and the reason', () => {
  test.each([
    ['no image', { images: undefined }, 'images', 'required'],
    ['an empty list', { images: [] }, 'images', 'empty'],
    ['two images', { images: [...images, ...images] }, 'images', 'too_many'],
    ['an image without address', { images: [{}] }, 'images.0.image_url', 'required'],
    [
      'an address of another kind',
      { images: [{ image_url: 'http://a.example/a.png' }] },
      'images.0.image_url',
      'bad_format',
    ],
    ['no variation', { n: 0 }, 'n', 'out_of_range'],
    ['a size of one side', { size: '1024' }, 'size', 'bad_format'],
    ['a prompt', { prompt: 'At dusk' }, 'prompt', 'not_allowed'],
    ['a stream', { stream: true }, 'stream', 'not_allowed'],
  ])('%s', async (...[, fields, param, issue]) => {
    const before = fixture.rig.upstream.requests().length
    const { response, body } = await vary(fields)
    expect(response.status).toBe(400)
    expect(body['error']).toMatchObject({ param, details: { issue } })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })

  test.each<[string, FormFields, string, string]>([
    ['no file', {}, 'image', 'required'],
    ['two files', { 'image[]': [file, file] }, 'image', 'too_many'],
    ['a mask', { image: file, mask: file }, 'mask', 'not_allowed'],
    ['a prompt', { image: file, prompt: 'At dusk' }, 'prompt', 'not_allowed'],
    [
      'sound',
      { image: new File([pngBytes], 'a.mp3', { type: 'audio/mpeg' }) },
      'image',
      'wrong_type',
    ],
  ])('a form with %s', async (...[, fields, param, issue]) => {
    const response = await varyForm(fields)
    expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
    expect(response.status).toBe(400)
  })

  test.each(['xai-like/ok', 'none-like/ok', 'openrouter-like/ok', 'bfl-like/flux-kontext-pro'])(
    '%s makes no variations',
    async (model) => {
      const { response, body } = await vary({ model })
      expect(response.status).toBe(400)
      expect(body['error']).toMatchObject({
        param: 'model',
        details: { issue: 'unsupported_by_model' },
      })
    },
  )
})
