import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: url,
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: url,
    MISTRAL_API_KEY: upstreamSecret,
    MISTRAL_BASE_URL: url,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** Nine tokens read and five written, as each provider says it. */
const relayed = (fields: Json = {}): Json => ({
  id: 'x',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
  ...fields,
})
const ofGoogle: Json = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
}
const ofAnthropic: Json[] = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 9, output_tokens: 1, service_tier: 'standard' },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

/** What nine tokens read and five written cost, in nano-dollars, at USD per million. */
const bill = (input: number, output: number) =>
  BigInt(Math.ceil(9 * input * 1000 + 5 * output * 1000))

/** Google and Anthropic are asked for streams, whatever the caller wants. */
const streamed = (...events: Json[]) =>
  new Response(
    events
      .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  )

async function costOf(model: string, tier: string, answer: Json | Json[]) {
  front.answer = () => (Array.isArray(answer) ? streamed(...answer) : Response.json(answer))
  const response = await front.chat(model, { service_tier: tier, max_tokens: 50 })
  expect(response.status).toBe(200)
  return {
    cost: (await front.booked(response)).cost,
    sent: front.requests.at(-1)?.body['service_tier'],
  }
}

describe('a service tier that the provider is not sent is not charged', () => {
  test.each([
    ['google/gemini-2.5-flash', [ofGoogle], bill(0.3, 2.5)],
    ['anthropic/claude-opus-5-5', ofAnthropic, bill(4, 20)],
    ['mistral/mistral-medium-3-5', relayed(), bill(1.5, 7.5)],
  ])('%s', async (model, answer, usual) => {
    for (const tier of ['flex', 'priority', 'batch']) {
      expect(await costOf(model, tier, answer)).toEqual({ cost: usual, sent: undefined })
    }
  })
})

describe('a tier sent to the provider is charged as the provider reports it', () => {
  const model = 'openai/gpt-5.4-mini'
  test.each([
    ['flex', { service_tier: 'flex' }, bill(0.375, 2.25)],
    ['flex', { service_tier: 'default' }, bill(0.75, 4.5)],
    ['flex', {}, bill(0.75, 4.5)],
    ['priority', { service_tier: 'priority' }, bill(1.5, 9)],
    ['priority', { service_tier: 'default' }, bill(0.75, 4.5)],
    ['priority', {}, bill(1.5, 9)],
    ['batch', {}, bill(0.75, 4.5)],
  ])('%s, answered by %j', async (tier, reported, due) => {
    expect(await costOf(model, tier, relayed(reported))).toEqual({ cost: due, sent: tier })
  })
})
