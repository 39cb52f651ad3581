import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { openFront, type Front, type ProviderRequest } from './front'
import type { Json } from '../../harness/http'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { pngOf } from '../../harness/upstreams/drawings'

/** Stability's own API. https://platform.stability.ai/docs/api-reference#tag/Generate */

const core = 'stability/stable-image-core'
const ultra = 'stability/stable-image-ultra'
const diffusion = 'stability/sd3.5-large'
const prompt = 'A lighthouse at dusk'
const png = pngOf(64, 64)
const image = { image_url: `data:image/png;base64,${png}` }

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    STABILITY_API_KEY: upstreamSecret,
    STABILITY_BASE_URL: url,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const made = () => Response.json({ image: png, finish_reason: 'SUCCESS', seed: 1 })

const draw = (model: string, fields: Json = {}) =>
  front.post('/v1/images/generations', { model, prompt, ...fields })
const edit = (model: string, fields: Json = {}) =>
  front.post('/v1/images/edits', {
    model,
    prompt,
    images: [image],
    ...fields,
  })

/** The texts of a form, and the names and types of its files. */
const formOf = ({ text }: ProviderRequest) =>
  Object.fromEntries(
    [
      ...text.matchAll(
        /name="([^"]+)"(?:; filename="([^"]+)"\r\ncontent-type: (\S+))?\r\n\r\n([^\r]*)/g,
      ),
    ].map(([, name, file, type, value]) => [name, file ? `${file} ${type}` : value]),
  )

describe('a request is a form, and its answer JSON', () => {
  test.each([
    [
      core,
      { size: '1536x1024', output_format: 'webp' },
      'core',
      {
        prompt,
        aspect_ratio: '3:2',
        output_format: 'webp',
      },
      30_000_000n,
    ],
    [ultra, {}, 'ultra', { prompt }, 80_000_000n],
    [
      diffusion,
      { quality: 'high' },
      'sd3',
      {
        prompt,
        model: 'sd3.5-large',
        mode: 'text-to-image',
      },
      65_000_000n,
    ],
  ])('%s %j', async (...[model, fields, path, sent, cost]) => {
    front.answer = made
    const drawn = await draw(model, fields)
    expect([drawn.status, drawn.body['data']]).toEqual([200, [{ b64_json: png }]])
    const [request] = front.requests
    expect(request?.path).toBe(`/v2beta/stable-image/generate/${path}`)
    expect(request?.headers.get('accept')).toBe('application/json')
    expect(request?.headers.get('authorization')).toBe(`Bearer ${upstreamSecret}`)
    expect(request?.headers.get('content-type')).toStartWith('multipart/form-data; boundary=')
    expect(request && formOf(request)).toEqual(sent)
    expect(drawn.headers.get('x-tollgate-omitted')).toBe('quality' in fields ? 'quality' : null)
    expect(await front.booked(drawn)).toMatchObject({ cost, estimated: false })
  })

  test('several images are several requests', async () => {
    front.answer = made
    const drawn = await draw(core, { n: 3 })
    expect([front.requests.length, reportedCost(drawn)]).toEqual([3, 90_000_000n])
  })

  test('a stream has the image in one event', async () => {
    front.answer = made
    const drawn = await draw(core, { stream: true })
    expect([drawn.status, drawn.text]).toEqual([
      200,
      expect.stringContaining('image_generation.completed'),
    ])
    expect(front.requests[0] && formOf(front.requests[0])).toEqual({ prompt })
  })
})

describe('an image that is changed is a file', () => {
  test.each([
    [ultra, { size: '1024x1536' }, { prompt, strength: '0.7' }, 'size'],
    [
      diffusion,
      { input_fidelity: 'high' },
      {
        prompt,
        model: 'sd3.5-large',
        mode: 'image-to-image',
        strength: '0.4',
      },
      null,
    ],
  ])('%s %j', async (...[model, fields, sent, omitted]) => {
    front.answer = made
    const edited = await edit(model, fields)
    expect(edited.status).toBe(200)
    expect(front.requests[0] && formOf(front.requests[0])).toEqual({
      ...sent,
      image: 'image.png image/png',
    })
    expect(edited.headers.get('x-tollgate-omitted')).toBe(omitted)
    await front.booked(edited)
  })
})

test.each([
  [() => Response.json({ image: png, finish_reason: 'CONTENT_FILTERED', seed: 1 })],
  [
    () =>
      Response.json(
        {
          name: 'content_moderation',
          errors: ['Your request was flagged, and you were not charged.'],
        },
        { status: 403 },
      ),
  ],
])('a filtered request costs nothing', async (answer) => {
  front.answer = answer
  const drawn = await draw(core)
  expect([drawn.status, drawn.error.param]).toEqual([400, 'prompt'])
  expect(drawn.error.details).toMatchObject({ issue: 'content_filter' })
  expect(await front.booked(drawn)).toMatchObject({ cost: 0n })
})

test('the words of a refusal are those of its list', async () => {
  front.answer = () =>
    Response.json(
      { id: 'a', name: 'bad_request', errors: ['aspect_ratio: must be one of 1:1'] },
      { status: 400 },
    )
  const { status, error } = await draw(core)
  expect([status, error.code]).toEqual([400, 'invalid_request'])
  expect(error.message).toContain('aspect_ratio: must be one of 1:1')
})

test.each([[{}], [{ image: '' }], [{ image: 1 }], [[]]])(
  'an answer without an image is rejected: %j',
  async (body) => {
    front.answer = () => Response.json(body)
    const { status, error } = await draw(core)
    expect([status, error.code]).toEqual([502, 'provider_error'])
  },
)

test.each([
  ['an image for a model that changes none', () => edit(core), 'model'],
  ['two images', () => edit(ultra, { images: [image, image] }), 'images'],
  ['a format that it lacks', () => draw(diffusion, { output_format: 'webp' }), 'output_format'],
  ['a long prompt', () => draw(core, { prompt: 'a'.repeat(10_001) }), 'prompt'],
])('%s is rejected before it is sent', async (_what, send, param) => {
  const { status, error } = await send()
  expect([status, error.param]).toEqual([400, param])
  expect(front.requests).toEqual([])
})
