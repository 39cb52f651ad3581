import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front, type ProviderRequest } from './front'

let front: Front

const imagen = 'google/imagen-4.0-generate-001'
const gemini = 'google/gemini-3.5-pro-image'
const onVertex = 'vertex/imagen-4.0-fast-generate-001'
const nova = 'bedrock/amazon.nova-canvas-v1:0'
const stability = 'bedrock/us.stability.stable-image-core-v1:1'
const azure = 'azure/gpt-image-1'

const byImage = { input: 0, output: 0, made_image: 0.04 }
const byQuality = { ...byImage, tiers: [{ quality: 'hd', made_image: 0.06 }] }
const byToken = { input: 2, output: 12, image_output: 120 }
const ofGptImage = { input: 5, output: 0, image_input: 10, image_output: 40 }

const prices: [model: string, pricing: Json][] = [
  [imagen, byImage],
  [gemini, byToken],
  [onVertex, byImage],
  [nova, byQuality],
  [stability, byImage],
  [azure, ofGptImage],
]

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/vertex`,
    AWS_BEARER_TOKEN_BEDROCK: upstreamSecret,
    BEDROCK_BASE_URL: url,
  }))
  await front.gateway.admin('POST', '/connections', {
    name: 'azure',
    provider: 'azure',
    api_key: upstreamSecret,
    endpoint_url: `${front.url}/openai/deployments/pictures`,
  })
  for (const [model, pricing] of prices) await front.price(model, { category: 'image', pricing })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const prompt = 'A lighthouse at dusk'
const draw = (model: string, fields: Json = {}) =>
  front.post('/v1/images/generations', { model, prompt, ...fields })
const dataOf = ({ body }: { body: Json }) => (Array.isArray(body['data']) ? body['data'] : [])

const countIn = ({ text }: ProviderRequest) =>
  Number(/"(?:sampleCount|numberOfImages)":(\d+)/.exec(text)?.[1] ?? 1)
const pictures = (request: ProviderRequest) =>
  Array.from({ length: countIn(request) }, () => 'AAAA')
const byPredict = (request: ProviderRequest) =>
  Response.json({
    predictions: pictures(request).map((data) => ({
      mimeType: 'image/png',
      bytesBase64Encoded: data,
    })),
  })
const byInvoke = (request: ProviderRequest) => Response.json({ images: pictures(request) })
const byStability = () => Response.json({ seeds: [1], finish_reasons: [null], images: ['AAAA'] })
const byContent = () =>
  Response.json({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { thought: true, inlineData: { mimeType: 'image/png', data: 'BBBB' } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: 5,
      candidatesTokenCount: 1120,
      thoughtsTokenCount: 100,
      totalTokenCount: 1225,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
    },
  })

const cases = [
  {
    model: imagen,
    answer: byPredict,
    fields: { n: 6, size: '1536x1024', output_format: 'jpeg', output_compression: 80 },
    paths: Array(2).fill('/v1beta/models/imagen-4.0-generate-001:predict'),
    sent: {
      instances: [{ prompt }],
      parameters: {
        sampleCount: 4,
        includeRaiReason: true,
        aspectRatio: '4:3',
        outputOptions: { mimeType: 'image/jpeg', compressionQuality: 80 },
      },
    },
    cost: 6n * 40_000_000n,
  },
  {
    model: onVertex,
    answer: byPredict,
    fields: { size: '2048x2048' },
    paths: ['/vertex/publishers/google/models/imagen-4.0-fast-generate-001:predict'],
    sent: {
      instances: [{ prompt }],
      parameters: {
        sampleCount: 1,
        includeRaiReason: true,
        aspectRatio: '1:1',
        sampleImageSize: '2K',
      },
    },
    cost: 40_000_000n,
  },
  {
    // What the model thought is paid as text, though it drew meanwhile.
    model: gemini,
    answer: byContent,
    fields: { n: 2, size: '1024x1536' },
    paths: Array(2).fill('/v1beta/models/gemini-3.5-pro-image:generateContent'),
    sent: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: {
        responseModalities: ['IMAGE'],
        maxOutputTokens: 8192,
        imageConfig: { aspectRatio: '2:3', imageSize: '1K' },
      },
    },
    cost: 2n * (5n * 2000n + 100n * 12_000n + 1120n * 120_000n),
  },
  {
    model: nova,
    answer: byInvoke,
    fields: { n: 2, size: '512x768', quality: 'hd' },
    paths: ['/model/amazon.nova-canvas-v1%3A0/invoke'],
    sent: {
      taskType: 'TEXT_IMAGE',
      textToImageParams: { text: prompt },
      imageGenerationConfig: { numberOfImages: 2, quality: 'premium', width: 512, height: 768 },
    },
    cost: 2n * 60_000_000n,
  },
  {
    model: stability,
    answer: byStability,
    fields: { n: 3, size: '1024x1536', output_format: 'jpeg' },
    paths: Array(3).fill('/model/us.stability.stable-image-core-v1%3A1/invoke'),
    sent: { prompt, aspect_ratio: '2:3', output_format: 'jpeg' },
    cost: 3n * 40_000_000n,
  },
]

describe('each in its format, as many at once as it takes', () => {
  test.each(cases)('$model', async ({ model, answer, fields, paths, sent, cost }) => {
    front.answer = answer
    const drawn = await draw(model, fields)
    expect(drawn.status).toBe(200)
    expect(dataOf(drawn).map((image) => JSON.stringify(image))).toEqual(
      Array(fields.n ?? 1).fill('{"b64_json":"AAAA"}'),
    )
    expect(front.requests.map((request) => request.path)).toEqual(paths)
    expect(front.requests[0]?.body).toEqual(sent)
    expect(reportedCost(drawn)).toBe(cost)
    expect(await front.booked(drawn)).toMatchObject({ cost, estimated: false })
  })

  test('a deployment of Azure is in the path', async () => {
    front.answer = () =>
      Response.json({
        created: 1,
        data: [{ b64_json: 'AAAA' }],
        usage: { input_tokens: 5, output_tokens: 272, total_tokens: 277 },
      })
    const drawn = await draw(azure, { response_format: 'b64_json', quality: 'low' })
    expect(drawn.status).toBe(200)
    expect(front.requests[0]?.path).toStartWith(
      '/openai/deployments/pictures/images/generations?api-version=',
    )
    expect(front.requests[0]?.body).toMatchObject({ prompt, quality: 'low' })
    expect(front.requests[0]?.body).not.toHaveProperty('response_format')
    expect(reportedCost(drawn)).toBe(5n * 5000n + 272n * 40_000n)
  })
})

test.each([
  [imagen, { predictions: [{ raiFilteredReason: 'It shows a celebrity.' }] }],
  [imagen, {}],
  [gemini, { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }],
  [gemini, { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }],
  [stability, { images: [''], finish_reasons: ['Filter reason: prompt'] }],
])('%s: a prompt that is filtered costs nothing: %j', async (model, body) => {
  front.answer = () => Response.json(body)
  const drawn = await draw(model)
  expect([drawn.status, drawn.error['param']]).toEqual([400, 'prompt'])
  expect(drawn.error['details']).toMatchObject({ issue: 'content_filter' })
  expect(await front.booked(drawn)).toMatchObject({ cost: 0n })
})

test('of several requests those that fail leave the images of the others, which are charged', async () => {
  let count = 0
  front.answer = () =>
    (count += 1) === 2 ? Response.json({ message: 'Busy.' }, { status: 429 }) : byStability()
  const drawn = await draw(stability, { n: 3 })
  expect([drawn.status, dataOf(drawn).length]).toEqual([200, 2])
  expect(reportedCost(drawn)).toBe(80_000_000n)
  await front.booked(drawn)
})

test('fields that a model lacks are rejected by name', async () => {
  const webp = await draw(stability, { output_format: 'webp' })
  expect([webp.status, webp.error['param']]).toEqual([400, 'output_format'])
  const long = await draw(nova, { prompt: 'a'.repeat(1025) })
  expect([long.status, long.error['param']]).toEqual([400, 'prompt'])
  expect(front.requests).toHaveLength(0)
})

const edit = (model: string, fields: Json = {}) =>
  front.post('/v1/images/edits', {
    model,
    prompt,
    images: [{ image_url: 'data:image/png;base64,AAAA' }],
    ...fields,
  })

describe('images that are changed', () => {
  test('are parts of the content for Gemini', async () => {
    front.answer = byContent
    const edited = await edit(gemini)
    expect(edited.status).toBe(200)
    expect(front.requests[0]?.body).toMatchObject({
      contents: [
        {
          role: 'user',
          parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { text: prompt }],
        },
      ],
    })
    await front.booked(edited)
  })

  test('of Azure are a form with a path of its own', async () => {
    front.answer = () =>
      Response.json({
        data: [{ b64_json: 'AAAA' }],
        usage: { input_tokens: 5, output_tokens: 272, total_tokens: 277 },
      })
    expect((await edit(azure)).status).toBe(200)
    const [sent] = front.requests
    expect(sent?.path).toStartWith('/openai/deployments/pictures/images/edits?')
    expect(sent?.headers.get('content-type')).toStartWith('multipart/form-data; boundary=')
    expect(sent?.text).toContain('name="image"; filename="image-0.png"\r\ncontent-type: image/png')
  })

  test.each([imagen, nova, stability])('are nothing for %s', async (model) => {
    const edited = await edit(model)
    expect([edited.status, edited.error['param']]).toEqual([400, 'model'])
  })

  test('have no mask there', async () => {
    const mask = { image_url: 'data:image/png;base64,AAAA' }
    const edited = await edit(gemini, { mask })
    expect([edited.status, edited.error['param']]).toEqual([400, 'mask'])
  })
})
