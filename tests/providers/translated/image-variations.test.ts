import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { openFront, type Front } from './front'
import type { Json } from '../conformance/fixture'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'

const nova = 'bedrock/amazon.nova-canvas-v1:0'
const core = 'bedrock/us.stability.stable-image-core-v1:1'
const flux = 'bfl/flux-pro-1.1'
const byImage = { input: 0, output: 0, made_image: 0.04 }
const png = 'data:image/png;base64,AAAA'
const sample = 'https://delivery.bfl.example/sample.png'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
    BFL_API_KEY: upstreamSecret,
    BFL_BASE_URL: `${url}/v1`,
  }))
  for (const model of [nova, core])
    await front.price(model, { category: 'image', pricing: byImage })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const vary = (model: string, fields: Json = {}, url = png) =>
  front.post('/v1/images/variations', { model, images: [{ image_url: url }], ...fields })

test('Amazon makes five variations a request, each at its price', async () => {
  front.answer = ({ body }) => {
    const { numberOfImages } = Object(body['imageGenerationConfig'])
    return Response.json({ images: Array(Number(numberOfImages)).fill('BBBB') })
  }
  const answer = await vary(nova, { n: 6, size: '1024x1024' })
  const images = Array.from({ length: 6 }, () => ({ b64_json: 'BBBB' }))
  expect([answer.status, answer.body['data']]).toEqual([200, images])
  expect(front.requests.map(({ path }) => decodeURIComponent(path))).toEqual(
    Array(2).fill('/model/amazon.nova-canvas-v1:0/invoke'),
  )
  expect(front.requests.map(({ body }) => body)).toContainEqual({
    taskType: 'IMAGE_VARIATION',
    imageVariationParams: { images: ['AAAA'] },
    imageGenerationConfig: { numberOfImages: 5, quality: 'standard', width: 1024, height: 1024 },
  })
  expect(await front.booked(answer)).toMatchObject({ cost: 6n * 40_000_000n })
})

test('Black Forest Labs makes one a task, whose image is at an address', async () => {
  front.answer = ({ path }) =>
    path.startsWith('/v1/get_result')
      ? Response.json({ id: 't', status: 'Ready', result: { sample } })
      : Response.json({ id: 't', polling_url: `${front.url}/v1/get_result?id=t`, cost: 4 })
  const answer = await vary(flux, { size: '1024x768' })
  expect([answer.status, answer.body['data']]).toEqual([200, [{ url: sample }]])
  expect(front.requests[0]).toMatchObject({
    path: '/v1/flux-pro-1.1',
    body: { image_prompt: 'AAAA', width: 1024, height: 768 },
  })
  expect(reportedCost(answer)).toBe(40_000_000n)
})

test('a variation that the provider rejects costs nothing', async () => {
  const message = 'Malformed input request, please reformat your input and try again.'
  front.answer = () => Response.json({ message }, { status: 400 })
  const answer = await vary(nova)
  expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
  expect(answer.error.message).toContain('Malformed input request')
  expect(await front.booked(answer)).toMatchObject({ cost: 0n })
})

test.each([
  ['an image that it does not read', nova, 'data:image/webp;base64,AAAA', 'images'],
  ['a model of Stability', core, png, 'model'],
  ['a model that wants a prompt', 'bfl/flux-kontext-pro', png, 'model'],
])('%s is rejected before it is sent', async (...[, model, url, param]) => {
  const { status, error } = await vary(model, {}, url)
  expect([status, error.param]).toEqual([400, param])
  expect(error.details).toMatchObject({ issue: 'unsupported_by_model' })
  expect(front.requests).toEqual([])
})
