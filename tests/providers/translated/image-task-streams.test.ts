import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { openFront, type Front } from './front'
import { pngOf } from '../../harness/upstreams/drawings'
import {
  allowLoopback,
  startUpstream,
  upstreamEnvironment,
  type Upstream,
} from '../../harness/byok'
import { parsed } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'

const flux = 'bfl/flux-pro-1.1'
const kontext = 'bfl/flux-kontext-pro'
const prompt = 'A lighthouse at dusk'

let front: Front
let delivery: Upstream

beforeAll(async () => {
  delivery = startUpstream()
  front = await openFront((url) => ({
    ...upstreamEnvironment(delivery),
    BFL_API_KEY: upstreamSecret,
    BFL_BASE_URL: `${url}/v1`,
  }))
  await allowLoopback(front.gateway)
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

const sample = () => `${delivery.url}/sample.png?sig=1`
const ready = () => ({ id: 't', status: 'Ready', result: { sample: sample(), seed: 1 } })
const pending = { id: 't', status: 'Pending', result: null }

/** Has each task accepted, and its states in this order; the last one stays. */
function answerWith(states: readonly Json[]): void {
  let next = 0
  front.answer = ({ path }) => {
    if (!path.startsWith('/v1/get_result')) {
      return Response.json({ id: 't', polling_url: `${front.url}/v1/get_result?id=t`, cost: 4 })
    }
    const state = states[Math.min(next, states.length - 1)] ?? {}
    next += 1
    return Response.json(state)
  }
}

const draw = (fields: Json) =>
  front.post('/v1/images/generations', { model: flux, prompt, stream: true, ...fields })

const eventsIn = ({ text }: { text: string }): Json[] =>
  [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, event, data]) => ({
    event,
    ...parsed(data ?? ''),
  }))

test('a stream is the event of the image, with its data, once the task is done', async () => {
  answerWith([pending, ready()])
  const drawn = await draw({ partial_images: 2 })
  expect([drawn.status, drawn.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  expect(eventsIn(drawn)).toEqual([
    {
      event: 'image_generation.completed',
      type: 'image_generation.completed',
      created_at: expect.any(Number),
      b64_json: pngOf(64, 32),
      usage: expect.objectContaining({ output_tokens: 0 }),
    },
  ])
  expect(front.requests[0]?.body).not.toHaveProperty('stream')
  expect(await front.booked(drawn)).toMatchObject({ cost: 40_000_000n, estimated: false })
})

test('a stream has an event for each of several images, and for changed ones', async () => {
  answerWith([ready()])
  const drawn = await draw({ n: 2 })
  expect(eventsIn(drawn).map(({ event }) => event)).toEqual(
    Array(2).fill('image_generation.completed'),
  )
  expect(await front.booked(drawn)).toMatchObject({ cost: 80_000_000n })
  const changed = await front.post('/v1/images/edits', {
    model: kontext,
    prompt,
    stream: true,
    images: [{ image_url: 'data:image/png;base64,AAAA' }],
  })
  expect(eventsIn(changed).map(({ event }) => event)).toEqual(['image_edit.completed'])
})

test('a stream has the address where that is requested', async () => {
  answerWith([ready()])
  const drawn = await draw({ response_format: 'url' })
  expect(eventsIn(drawn)).toMatchObject([{ url: sample() }])
  expect(delivery.requests).toEqual([])
})

test('a stream of a task without an image is the error that an answer has, and costs as that', async () => {
  answerWith([pending, { id: 't', status: 'Content Moderated', result: null }])
  const filtered = await draw({})
  expect([filtered.status, filtered.error.param]).toEqual([400, 'prompt'])
  expect(await front.booked(filtered)).toMatchObject({ cost: 0n })
  answerWith([{ id: 't' }])
  const lost = await draw({})
  expect([lost.status, lost.error.code]).toEqual([502, 'provider_error'])
  expect(await front.booked(lost)).toMatchObject({ cost: 40_000_000n })
})
