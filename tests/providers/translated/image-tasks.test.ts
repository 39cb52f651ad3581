import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { openFront, type Front, type ProviderRequest } from './front'
import { pngOf } from '../../harness/upstreams/drawings'
import {
  allowLoopback,
  startUpstream,
  upstreamEnvironment,
  type Upstream,
} from '../../harness/byok'
import { sendRaw, type Json } from '../../harness/http'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

const flux = 'bfl/flux-pro-1.1'
const kontext = 'bfl/flux-kontext-pro'
const flux2 = 'bfl/flux-2-pro'
const prompt = 'A lighthouse at dusk'
/** The most of one request, of which the provider states its part. */
const byRequest = { input: 0, output: 0, request: 0.25 }

let front: Front
let delivery: Upstream

beforeAll(async () => {
  delivery = startUpstream()
  front = await openFront((url) => ({
    ...upstreamEnvironment(delivery),
    REQUEST_TIMEOUT_SECONDS: '6',
    BFL_API_KEY: upstreamSecret,
    BFL_BASE_URL: `${url}/v1`,
  }))
  await allowLoopback(front.gateway)
  await front.gateway.admin('PUT', `/models/${flux2}`, { pricing: byRequest })
})
beforeEach(() => {
  delivery.answer = () => new Response(Buffer.from(pngOf(64, 32), 'base64'))
})
afterEach(() => {
  front.reset()
  delivery.requests.length = 0
})
afterAll(async () => {
  await front[Symbol.asyncDispose]()
  await delivery[Symbol.asyncDispose]()
})

const isPoll = ({ path }: ProviderRequest) => path.startsWith('/v1/get_result')
const sample = () => `${delivery.url}/sample.png?sig=1`
const ready = () => ({ id: 't', status: 'Ready', result: { sample: sample(), seed: 1 } })
const accepted = (fields: Json = {}) =>
  Response.json({
    id: 't',
    polling_url: `${front.url}/v1/get_result?id=t`,
    cost: 4,
    input_mp: 0,
    output_mp: 1.05,
    ...fields,
  })

/** Has each task accepted, and its states in this order; the last one stays. */
function answerWith(states: readonly (Json | Response)[], task: Json = {}): void {
  let next = 0
  front.answer = (request) => {
    if (!isPoll(request)) return accepted(task)
    const state = states[Math.min(next, states.length - 1)] ?? {}
    next += 1
    return state instanceof Response ? state : Response.json(state)
  }
}

const draw = (model: string, fields: Json = {}) =>
  front.post('/v1/images/generations', { model, prompt, ...fields })
const edit = (model: string, images: number) =>
  front.post('/v1/images/edits', {
    model,
    prompt,
    images: Array.from({ length: images }, () => ({ image_url: 'data:image/png;base64,AAAA' })),
  })
const imagesIn = ({ body }: { body: Json }) => body['data']
const pending = { id: 't', status: 'Pending', result: null }

test('a task is sent, its state requested until it is done, and the address of its image answered', async () => {
  answerWith([pending, pending, ready()])
  const drawn = await draw(flux, { size: '1024x768', output_format: 'png', quality: 'high' })
  expect([drawn.status, imagesIn(drawn)]).toEqual([200, [{ url: sample() }]])
  expect(drawn.headers.get('x-tollgate-omitted')).toBe('quality')
  const [task, ...polls] = front.requests
  expect(task?.path).toBe('/v1/flux-pro-1.1')
  expect(task?.body).toEqual({ prompt, width: 1024, height: 768, output_format: 'png' })
  expect(polls.map(({ path, text }) => `${path} ${text}`)).toEqual(
    Array(3).fill('/v1/get_result?id=t '),
  )
  for (const { headers } of front.requests) expect(headers.get('x-key')).toBe(upstreamSecret)
  expect(delivery.requests).toEqual([])
  expect(await front.booked(drawn)).toMatchObject({ cost: 40_000_000n, estimated: false })
})

test('an image that is requested as data is fetched, without the key', async () => {
  answerWith([ready()])
  const drawn = await draw(flux, { response_format: 'b64_json' })
  expect(imagesIn(drawn)).toEqual([{ b64_json: pngOf(64, 32) }])
  expect(delivery.requests.map(({ path }) => path)).toEqual(['/sample.png'])
  expect(delivery.requests[0]?.headers.has('x-key')).toBe(false)
})

test('several images are as many tasks', async () => {
  answerWith([ready()])
  const drawn = await draw(flux, { n: 3 })
  expect(imagesIn(drawn)).toHaveLength(3)
  expect(front.requests.filter((request) => !isPoll(request))).toHaveLength(3)
  expect(reportedCost(drawn)).toBe(3n * 40_000_000n)
})

test('images to change are fields of their own, and the size is a ratio', async () => {
  answerWith([ready()])
  expect((await edit(kontext, 2)).status).toBe(200)
  expect(front.requests[0]?.body).toEqual({
    prompt,
    input_image: 'AAAA',
    input_image_2: 'AAAA',
  })
  front.requests.length = 0
  expect((await draw(kontext, { size: '1536x1024' })).status).toBe(200)
  expect(front.requests[0]?.body).toEqual({ prompt, aspect_ratio: '3:2' })
})

test.each([
  ['a model that changes none', () => edit(flux, 1), 'model'],
  ['too many images', () => edit(kontext, 5), 'images'],
  ['a format that it lacks', () => draw(flux, { output_format: 'webp' }), 'output_format'],
])('%s is rejected before it is sent', async (_what, send, param) => {
  const { status, error } = await send()
  expect([status, error.param]).toEqual([400, param])
  expect(front.requests).toEqual([])
})

describe('a price by request', () => {
  test('is the cost that the provider states, of each task', async () => {
    answerWith([ready()], { cost: 4.5 })
    const drawn = await draw(flux2, { n: 2 })
    expect(await front.booked(drawn)).toMatchObject({ cost: 2n * 45_000_000n })
  })

  test.each([{ cost: null }, { cost: 400 }, { cost: 'much' }])(
    'is never more than that of the hold, and that where it states none: %j',
    async (task) => {
      answerWith([ready()], task)
      expect(reportedCost(await draw(flux2))).toBe(250_000_000n)
    },
  )
})

describe('a task without an image', () => {
  test.each(['Request Moderated', 'Content Moderated'])(
    'costs nothing where it ended as %s',
    async (status) => {
      answerWith([pending, { id: 't', status, result: null }])
      const drawn = await draw(flux)
      expect([drawn.status, drawn.error.param]).toEqual([400, 'prompt'])
      expect(drawn.error.details).toMatchObject({ issue: 'content_filter' })
      expect(await front.booked(drawn)).toMatchObject({ cost: 0n })
    },
  )

  test('costs nothing where it failed', async () => {
    answerWith([{ id: 't', status: 'Error', result: null }])
    const drawn = await draw(flux)
    expect([drawn.status, drawn.error.code]).toEqual([502, 'provider_error'])
    expect(await front.booked(drawn)).toMatchObject({ cost: 0n })
  })

  test.each([
    ['no task any more', [{ id: 't', status: 'Task not found', result: null }]],
    ['ready, but without an image', [{ id: 't', status: 'Ready', result: {} }]],
    ['an address of another kind', [{ id: 't', status: 'Ready', result: { sample: 'file:///a' } }]],
    ['no state', [{ id: 't' }]],
  ])('is paid once it was accepted: %s', async (_what, states) => {
    answerWith(states)
    const drawn = await draw(flux)
    expect([drawn.status, drawn.error.code]).toEqual([502, 'provider_error'])
    expect(await front.booked(drawn)).toMatchObject({ cost: 40_000_000n })
  })

  test('is paid where its state is not available, and no other provider is called', async () => {
    front.answer = (request) =>
      isPoll(request) ? new Response('Busy.', { status: 403 }) : accepted()
    const drawn = await draw(flux)
    expect(drawn.error.code).toBe('provider_error')
    expect(front.requests.filter(isPoll)).toHaveLength(1)
    expect(front.requests).toHaveLength(2)
    expect(await front.booked(drawn)).toMatchObject({ cost: 40_000_000n })
  })
})

test('failures of the provider while it works pass', async () => {
  let polls = 0
  front.answer = (request) => {
    if (!isPoll(request)) return accepted()
    polls += 1
    return polls < 4 ? new Response(null, { status: 503 }) : Response.json(ready())
  }
  const drawn = await draw(flux)
  expect([drawn.status, reportedCost(drawn)]).toEqual([200, 40_000_000n])
})

test.each([
  'http://127.0.0.1:1/v1/get_result?id=t',
  'http://169.254.169.254/latest/meta-data',
  'https://api.bfl.ai.evil.example/v1/get_result?id=t',
  'get_result?id=t',
])('a key is not sent to an address of another host: %s', async (url) => {
  answerWith([ready()], { polling_url: url })
  const drawn = await draw(flux)
  expect([drawn.status, drawn.error.code]).toEqual([502, 'provider_error'])
  expect(front.requests).toHaveLength(1)
})

test('a refused task costs nothing, and its words are those of the field', async () => {
  front.answer = () =>
    Response.json(
      { detail: [{ loc: ['body', 'width'], msg: 'Input should be a multiple of 32' }] },
      { status: 422 },
    )
  const drawn = await draw(flux, { size: '1023x1023' })
  expect([drawn.status, drawn.error.code]).toEqual([400, 'invalid_request'])
  expect(drawn.error.message).toContain('Input should be a multiple of 32')
  expect(await front.booked(drawn)).toMatchObject({ cost: 0n })
})

test('a task that is not done in time is paid, and its state no longer requested', async () => {
  answerWith([pending])
  const drawn = await draw(flux)
  expect([drawn.status, drawn.error.code]).toEqual([504, 'request_timeout'])
  expect(await front.booked(drawn)).toMatchObject({ cost: 40_000_000n })
  const { length } = front.requests
  answerWith([ready()])
  await draw(flux)
  expect(front.requests).toHaveLength(length + 2)
})

test.each([{}, { stream: true }])(
  'a client that disconnects pays for the image that the provider still makes, once: %j',
  async (fields) => {
    let isDone = false
    front.answer = (request) =>
      isPoll(request) ? Response.json(isDone ? ready() : pending) : accepted()
    const { gateway, customer } = front
    const body = { model: flux, prompt, ...fields }
    const events = () => front.sql`select cost from usage_event where model = ${flux} and cost > 0`
    const before = (await events()).length
    const client = await sendRaw(gateway, {
      path: '/v1/images/generations',
      key: customer.key,
      body,
    })
    await eventually(() => front.requests.some(isPoll))
    client.close()
    isDone = true
    await eventually(async () => (await events()).length === before + 1)
  },
)
