import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'
import { pngOf } from '../../harness/upstreams/drawings'

const path = '/v1/images/edits'
const pricing = { input: 5, output: 0, image_input: 10, image_output: 40 }
const byToken = { category: 'image', pricing, max_output_tokens: null }
const prompt = 'At dusk'
const png = `data:image/png;base64,${pngOf(64, 64)}`
const images = [{ image_url: png }]
const xaiImage = { type: 'image_url', url: png }

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: { REMOTE_URLS: '' } })
  await fixture.model('ok', byToken)
  await fixture.addProvider('xai-like', { images: { edits: 'xai' } })
  await fixture.addModel('xai-like/draw-xai', byToken)
  await fixture.addProvider('none-like', { images: { edits: 'none' } })
  await fixture.addModel('none-like/ok', byToken)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const edit = async (body: Record<string, unknown>) => {
  const response = await fixture.post(path, { prompt, images, ...body })
  return { response, body: jsonOf(await response.json()) }
}

test('images are sent as OpenAI has them, and paid by their tokens', async () => {
  const two = [...images, { image_url: png, file_id: 'file-1' }]
  const fields = { quality: 'low', mask: { image_url: png }, input_fidelity: 'high' }
  const { response, body } = await edit({ model: 'fake/ok', images: two, ...fields })
  expect(response.status).toBe(200)
  expect(body).toMatchObject({ model: 'fake/ok', usage: { input_tokens: 2 + 646 } })
  // A file of the provider's account is not named.
  expect(fixture.sent()).toEqual({
    model: 'ok',
    prompt,
    ...fields,
    images: [...images, ...images],
  })
  const cost = 2 * 5e-6 + 646 * 1e-5 + 272 * 4e-5
  expect(Number(response.headers.get('x-tollgate-cost'))).toBeCloseTo(cost, 9)
})

test.each([
  [1, { image: xaiImage }],
  [2, { images: [xaiImage, xaiImage] }],
])('%d of them as xAI has it', async (count, sent) => {
  const { response } = await edit({
    model: 'xai-like/draw-xai',
    images: Array(count).fill(images[0]),
  })
  expect(response.status).toBe(200)
  expect(fixture.sent()).toEqual({ model: 'draw-xai', prompt, ...sent })
})

test('the sandbox draws another image', async () => {
  const { response, body } = await edit({ model: 'sandbox/image', size: '16x16' })
  expect(response.status).toBe(200)
  expect(body).toMatchObject({ model: 'sandbox/image', size: '16x16' })
})

describe('wrong fields are rejected with the field and the reason', () => {
  test.each([
    ['no prompt', { prompt: undefined }, 'prompt', 'required'],
    ['no images', { images: undefined }, 'images', 'required'],
    ['an empty list', { images: [] }, 'images', 'empty'],
    ['too many images', { images: Array(17).fill(images[0]) }, 'images', 'too_many'],
    ['an image without address', { images: [{}] }, 'images.0.image_url', 'required'],
    [
      'an address of another kind',
      { images: [{ image_url: 'http://example.com/a.png' }] },
      'images.0.image_url',
      'bad_format',
    ],
    [
      'an address in the network of the operator',
      { images: [{ image_url: 'https://example.com/a.png' }] },
      'images.0.image_url',
      'not_allowed',
    ],
    [
      'such an address in a stream',
      { images: [{ image_url: 'https://example.com/a.png' }], stream: true },
      'images.0.image_url',
      'not_allowed',
    ],
    [
      'such a mask',
      { mask: { image_url: 'https://example.com/a.png' } },
      'mask.image_url',
      'not_allowed',
    ],
    ['a mask without address', { mask: {} }, 'mask.image_url', 'required'],
    ['an unknown fidelity', { input_fidelity: 'best' }, 'input_fidelity', 'unknown_value'],
  ])('%s', async (...[, fields, param, issue]) => {
    const before = fixture.rig.upstream.requests().length
    const { response, body } = await edit({ model: 'fake/ok', ...fields })
    expect(response.status).toBe(400)
    expect(body['error']).toMatchObject({ param, details: { issue } })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })

  test.each([
    ['none-like/ok', {}, 'model'],
    ['xai-like/draw-xai', { mask: { image_url: png } }, 'mask'],
  ])('%s does not take %j', async (model, fields, param) => {
    const response = await fixture.post(path, { model, prompt, images, ...fields })
    expect(response.status).toBe(400)
    const details = { issue: 'unsupported_by_model' }
    expect(await errorOf(response)).toMatchObject({ param, details })
  })
})
