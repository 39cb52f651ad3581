import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { errorOf, jsonOf, createFixture, type Fixture } from './fixture'
import { anthropicEnvironment, testSeparateKinds } from './separate-kinds'

const path = '/v1/images/generations'
const byImage = { category: 'image', pricing: { input: 0, output: 0, made_image: 0.04 } }
const prompt = 'A lighthouse at dusk'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: anthropicEnvironment })
  await fixture.model('ok', byImage)
  await fixture.model('draw-address', byImage)
  await fixture.addProvider('together-like', { images: { size: 'sides', base64: 'base64' } })
  await fixture.addModel('together-like/draw-together', byImage)
  const ratios = ['1:1', '16:9', '2:3']
  const drop = ['stream', 'quality', 'style']
  await fixture.addProvider('xai-like', { images: { size: 'ratio', ratios, drop } })
  await fixture.addModel('xai-like/draw-xai', byImage)
  await fixture.addProvider('data-like', { images: { dataModels: ['ok'] } })
  await fixture.addModel('data-like/ok', byImage)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const draw = async (body: Record<string, unknown>) => {
  const response = await fixture.post(path, { prompt, ...body })
  return { response, body: jsonOf(await response.json()) }
}
const imagesIn = ({ data }: Record<string, unknown>) =>
  Array.isArray(data) ? data.map(jsonOf) : []

test('an answer has the images, their size and their quality', async () => {
  const { response, body } = await draw({
    model: 'fake/ok',
    n: 2,
    size: '1024x1536',
    quality: 'low',
  })
  expect(response.status).toBe(200)
  expect(body).toMatchObject({
    model: 'fake/ok',
    created: 1_795_219_200,
    size: '1024x1536',
    quality: 'low',
    output_format: 'png',
    usage: { input_tokens: 4, output_tokens: 816, total_tokens: 820 },
  })
  expect(imagesIn(body)).toHaveLength(2)
  expect(imagesIn(body)[0]).toEqual({ b64_json: expect.stringMatching(/^iVBORw0KGgo/) })
  expect(fixture.sent()).toEqual({ model: 'ok', prompt, n: 2, size: '1024x1536', quality: 'low' })
})

test('the official client reads it', async () => {
  const { data = [], usage } = await fixture.client.images.generate({
    model: 'fake/draw-address',
    prompt,
    response_format: 'b64_json',
  })
  expect(data[0]?.b64_json).toMatch(/^iVBORw0KGgo/)
  expect(data[0]?.revised_prompt).toBe(`Revised: ${prompt}`)
  expect(usage?.output_tokens).toBe(0)
})

describe('an image has the requested form', () => {
  test('as it comes where the request names none', async () => {
    const { body } = await draw({ model: 'fake/draw-address' })
    expect(imagesIn(body)[0]).toMatchObject({ url: 'https://images.example/one.png' })
  })

  test('data as an address is a data URL', async () => {
    const model = await fixture.model('draw-fewer', byImage)
    const answer = await draw({ model, response_format: 'url' })
    expect(imagesIn(answer.body)[0]).toEqual({
      url: expect.stringMatching(/^data:image\/png;base64,iVBORw0KGgo/),
    })
  })

  test('an address whose image cannot be fetched stays, as it is paid for', async () => {
    const model = await fixture.model('draw-unreachable', byImage)
    const { response, body } = await draw({ model, response_format: 'b64_json' })
    expect(response.status).toBe(200)
    expect(imagesIn(body)[0]).toEqual({ url: 'http://127.0.0.1:9/none.png' })
  })

  test('models that have data alone receive no form', async () => {
    const { response } = await draw({ model: 'data-like/ok', response_format: 'b64_json' })
    expect(response.status).toBe(200)
    expect(fixture.sent()).toEqual({ model: 'ok', prompt })
  })
})

describe('the size is in the words of the provider', () => {
  test('two sides, and base64 by another name', async () => {
    const model = 'together-like/draw-together'
    const { response, body } = await draw({ model, size: '512x768', response_format: 'b64_json' })
    expect(response.status).toBe(200)
    expect(imagesIn(body)[0]).toHaveProperty('b64_json')
    const sent = { model: 'draw-together', prompt, width: 512, height: 768 }
    expect(fixture.sent()).toEqual({ ...sent, response_format: 'base64' })
  })

  test('the nearest aspect ratio; fields that it lacks are named', async () => {
    const request = { model: 'xai-like/draw-xai', size: '1024x1536', quality: 'high' }
    const { response } = await draw(request)
    expect(response.headers.get('x-tollgate-omitted')).toBe('quality')
    expect(fixture.sent()).toEqual({ model: 'draw-xai', prompt, aspect_ratio: '2:3' })
  })
})

const eventsOf = async (response: Response) =>
  (await response.text()).split('\n\n').flatMap((text) => {
    const [, type, data] = /^event: (.+)\ndata: (.+)$/.exec(text) ?? []
    return type && data ? [{ type, data: jsonOf(JSON.parse(data)) }] : []
  })

const stream = async (fields: Record<string, unknown>) => {
  const response = await fixture.post(path, { prompt, stream: true, ...fields })
  return { response, events: await eventsOf(response) }
}

describe('a stream', () => {
  test('has the unfinished images and the image, as they come', async () => {
    const fields = { model: 'fake/ok', quality: 'low', partial_images: 2 }
    const { response, events } = await stream(fields)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(events.map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ])
    for (const { type, data } of events) {
      expect(data).toMatchObject({ type, b64_json: expect.stringMatching(/^iVBORw0KGgo/) })
    }
    expect(events[2]?.data['usage']).toMatchObject({ output_tokens: 272 })
    expect(fixture.sent()).toEqual({ ...fields, model: 'ok', prompt, stream: true })
  })

  test('is read by the official client', async () => {
    const events = await fixture.client.images.generate({
      model: 'fake/ok',
      prompt,
      stream: true,
      partial_images: 1,
    })
    const types = []
    for await (const { type } of events) types.push(type)
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed'])
  })

  test.each([
    ['xai-like/draw-xai', { n: 2 }, 2],
    ['sandbox/image', { size: '16x16' }, 1],
  ])('of %s, which has none, is made of the whole answer', async (model, fields, count) => {
    const { response, events } = await stream({ model, ...fields })
    expect(response.status).toBe(200)
    expect(events.map(({ type }) => type)).toEqual(Array(count).fill('image_generation.completed'))
  })

  test('ends in an error event if it fails after its beginning', async () => {
    const model = await fixture.model('draw-error', byImage)
    const { events } = await stream({ model, partial_images: 1 })
    expect(events.map(({ type }) => type)).toEqual(['image_generation.partial_image', 'error'])
    expect(events[1]?.data['error']).toMatchObject({ code: 'provider_error' })
  })

  test('is an ordinary error if it fails before its beginning', async () => {
    const model = await fixture.model('draw-error', byImage)
    const response = await fixture.post(path, { model, prompt, stream: true })
    expect(response.status).toBe(502)
    expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
  })
})

test('the sandbox draws a PNG of the requested size, without a key of any provider', async () => {
  const { body } = await draw({ model: 'sandbox/image', size: '64x32', n: 2 })
  const [image] = imagesIn(body)
  const png = Buffer.from(String(image?.['b64_json']), 'base64')
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([64, 32])
  expect(png.toString('latin1')).toContain('Simulated')
  expect(image?.['revised_prompt']).toBe(`Simulated: ${prompt}`)
  expect(imagesIn(body)).toHaveLength(2)
})

test.each([
  ['no prompt', { prompt: undefined }, 'prompt', 'required'],
  ['an empty prompt', { prompt: '' }, 'prompt', 'too_short'],
  ['a list as prompt', { prompt: ['a'] }, 'prompt', 'wrong_type'],
  ['a long prompt', { prompt: 'a'.repeat(64_001) }, 'prompt', 'too_long'],
  ['no image', { n: 0 }, 'n', 'out_of_range'],
  ['too many images', { n: 11 }, 'n', 'out_of_range'],
  ['half an image', { n: 1.5 }, 'n', 'wrong_type'],
  ['a size of one side', { size: '1024' }, 'size', 'bad_format'],
  ['a size of nothing', { size: '0x0' }, 'size', 'bad_format'],
  ['an immense size', { size: '99999x99999' }, 'size', 'bad_format'],
  ['a number as size', { size: 1024 }, 'size', 'wrong_type'],
  ['an unknown quality', { quality: 'best' }, 'quality', 'unknown_value'],
  ['an unknown form', { response_format: 'gif' }, 'response_format', 'unknown_value'],
  ['an unknown format', { output_format: 'gif' }, 'output_format', 'unknown_value'],
  ['too little compression', { output_compression: -1 }, 'output_compression', 'out_of_range'],
  ['too many partial images', { partial_images: 4 }, 'partial_images', 'out_of_range'],
  ['an unknown background', { background: 'blue' }, 'background', 'unknown_value'],
])('%s is rejected with the field and the reason', async (...[, fields, param, issue]) => {
  const before = fixture.rig.upstream.requests().length
  const response = await fixture.post(path, { model: 'fake/ok', prompt, ...fields })
  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
  expect(fixture.rig.upstream.requests()).toHaveLength(before)
})

test.each(['draw-none', 'draw-empty', 'draw-too-large'])(
  'an answer of %s is rejected',
  async (name) => {
    const model = await fixture.model(name, byImage)
    const response = await fixture.post(path, { model, prompt })
    expect(response.status).toBe(502)
    expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
  },
)

test('large images arrive whole, and leave their memory to the next', async () => {
  const model = await fixture.model('draw-large', byImage)
  for (let index = 0; index < 3; index += 1) {
    const { body } = await draw({ model })
    expect(String(imagesIn(body)[0]?.['b64_json'])).toHaveLength(24 * 1024 * 1024)
  }
})

testSeparateKinds(() => fixture, { path, fields: byImage, model: 'fake/ok', body: { prompt } })
