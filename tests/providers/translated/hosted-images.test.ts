import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { openFront, type Front } from './front'
import type { Json } from '../../harness/http'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { pngOf } from '../../harness/upstreams/drawings'

/** Images of Fireworks and OpenRouter, whose chats are OpenAI's. */

const names = 'accounts/fireworks/models'
const schnell = `fireworks/${names}/flux-1-schnell-fp8`
const kontext = `fireworks/${names}/flux-kontext-pro`
const seedream = 'openrouter/bytedance-seed/seedream-4.5'
const prompt = 'A lighthouse at dusk'
const png = pngOf(64, 64)
const image = { image_url: `data:image/png;base64,${png}` }

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    FIREWORKS_API_KEY: upstreamSecret,
    FIREWORKS_BASE_URL: `${url}/inference/v1`,
    OPENROUTER_API_KEY: upstreamSecret,
    OPENROUTER_BASE_URL: `${url}/api/v1`,
  }))
  const pricing = { input: 0, output: 0, request: 0.25 }
  await front.gateway.admin('PUT', `/models/${seedream}`, { pricing })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const draw = (model: string, fields: Json = {}) =>
  front.post('/v1/images/generations', { model, prompt, ...fields })
const edit = (model: string, fields: Json = {}) =>
  front.post('/v1/images/edits', { model, prompt, images: [image], ...fields })

describe('Fireworks', () => {
  test.each([[[png]], [[`data:image/png;base64,${png}`]], [png]])(
    'makes an image of %j by a workflow, of as many steps as it is paid',
    async (base64) => {
      front.answer = () => Response.json({ id: '1', base64, finishReason: 'SUCCESS', seed: 1 })
      const drawn = await draw(schnell, { size: '1536x1024', quality: 'hd' })
      expect([drawn.status, drawn.body['data']]).toEqual([200, [{ b64_json: png }]])
      expect(drawn.headers.get('x-tollgate-omitted')).toBe('quality')
      const [request] = front.requests
      expect(request?.path).toBe(
        `/inference/v1/workflows/${names}/flux-1-schnell-fp8/text_to_image`,
      )
      expect(request?.headers.get('accept')).toBe('application/json')
      expect(request?.body).toEqual({ prompt, aspect_ratio: '3:2', num_inference_steps: 4 })
      expect(await front.booked(drawn)).toMatchObject({ cost: 1_400_000n, estimated: false })
    },
  )

  test.each([
    [{ base64: [], finishReason: 'CONTENT_FILTERED' }, 400, 'invalid_request'],
    [{ base64: [] }, 502, 'provider_error'],
    [{}, 502, 'provider_error'],
  ])('without an image costs nothing: %j', async (...[body, status, code]) => {
    front.answer = () => Response.json(body)
    const drawn = await draw(schnell)
    expect([drawn.status, drawn.error.code]).toEqual([status, code])
    expect(await front.booked(drawn)).toMatchObject({ cost: 0n })
  })

  test('changes an image by a task, whose state is below its model', async () => {
    const path = `/inference/v1/workflows/${names}/flux-kontext-pro`
    const states = [
      { id: 't', status: 'Pending', result: null },
      { id: 't', status: 'Ready', result: { sample: 'https://images.example/1.png' } },
    ]
    front.answer = (request) =>
      Response.json(request.path === path ? { request_id: 't' } : states.shift())
    const edited = await edit(kontext, { output_format: 'jpeg' })
    expect(edited.body['data']).toEqual([{ url: 'https://images.example/1.png' }])
    const [task, ...polls] = front.requests
    expect(task?.body).toEqual({ prompt, input_image: png, output_format: 'jpeg' })
    expect(polls.map((request) => `${request.path} ${request.text}`)).toEqual(
      Array(2).fill(`${path}/get_result {"id":"t"}`),
    )
    expect(await front.booked(edited)).toMatchObject({ cost: 40_000_000n })
  })

  test('a task that is ready with data has it', async () => {
    front.answer = ({ path }) =>
      Response.json(
        path.endsWith('get_result')
          ? { id: 't', status: 'Ready', result: { sample: png } }
          : { request_id: 't' },
      )
    expect((await draw(kontext)).body['data']).toEqual([{ b64_json: png }])
  })

  test.each([
    ['an image for a model that changes none', () => edit(schnell), 'model'],
    ['two images', () => edit(kontext, { images: [image, image] }), 'images'],
    ['a format that it lacks', () => draw(schnell, { output_format: 'jpeg' }), 'output_format'],
    ['another one', () => draw(kontext, { output_format: 'webp' }), 'output_format'],
  ])('%s is rejected before it is sent', async (_what, send, param) => {
    const { status, error } = await send()
    expect([status, error.param]).toEqual([400, param])
    expect(front.requests).toEqual([])
  })
})

/** https://openrouter.ai/docs/api/api-reference/images/generate-an-image */
const answerOf = (cost?: unknown) =>
  Response.json({
    created: 1_748_372_400,
    data: [{ b64_json: png, media_type: 'image/png' }],
    usage: { completion_tokens: 4175, prompt_tokens: 0, total_tokens: 4175, cost },
  })

describe('OpenRouter', () => {
  test('makes images at its own path, for the cost that it states', async () => {
    front.answer = () => answerOf(0.04)
    const fields = { size: '1024x1024', quality: 'high', response_format: 'b64_json' }
    const drawn = await draw(seedream, { ...fields, style: 'vivid' })
    expect([drawn.status, drawn.body['data']]).toEqual([200, [{ b64_json: png }]])
    expect(drawn.headers.get('x-tollgate-omitted')).toBe('style')
    const [request] = front.requests
    expect(request?.path).toBe('/api/v1/images')
    expect(request?.body).toEqual({
      model: 'bytedance-seed/seedream-4.5',
      prompt,
      size: '1024x1024',
      quality: 'high',
    })
    expect(await front.booked(drawn)).toMatchObject({ cost: 40_000_000n })
  })

  test.each([undefined, null, -1, 'much', 3])(
    'the cost is never more than the hold, which stands where none is stated: %j',
    async (cost) => {
      front.answer = () => answerOf(cost)
      expect(reportedCost(await draw(seedream))).toBe(250_000_000n)
    },
  )

  test('changes images by references', async () => {
    front.answer = () => answerOf(0.08)
    const edited = await edit(seedream)
    expect(edited.status).toBe(200)
    const [request] = front.requests
    expect([request?.path, request?.body]).toEqual([
      '/api/v1/images',
      {
        model: 'bytedance-seed/seedream-4.5',
        prompt,
        input_references: [{ type: 'image_url', image_url: { url: image.image_url } }],
      },
    ])
    expect(reportedCost(edited)).toBe(80_000_000n)
    const masked = await edit(seedream, { mask: image })
    expect([masked.status, masked.error.param]).toEqual([400, 'mask'])
  })

  test('a stream is one event with the whole image', async () => {
    front.answer = () => answerOf(0.04)
    const drawn = await draw(seedream, { stream: true })
    expect(drawn.text).toContain('event: image_generation.completed')
    expect(front.requests[0]?.body).not.toHaveProperty('stream')
  })
})
