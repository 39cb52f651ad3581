import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { messages, type Json } from '../harness/http'
import { priceOf } from '../harness/ledger'
import { readLog } from '../harness/request-log'
import { upstreamSecret } from '../harness/server'
import { eventsOf, openFront, type Front } from '../providers/translated/front'

/** The counts of which a provider bills one are charged by that one, on every endpoint. */

let front: Front
const gemini = 'google/gemini-2.5-flash'

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    PERPLEXITY_API_KEY: upstreamSecret,
    PERPLEXITY_BASE_URL: url,
  }))
  await front.price(gemini)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const doors: [path: string, body: Json][] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 100 }],
  ['/v1/responses', { input: 'Say something.' }],
]
const ways = doors.flatMap(([path, body]) =>
  [true, false].map((stream): [string, boolean, Json] => [path, stream, body]),
)

const eventOf = (text: string, usageMetadata: Json, rest: Json = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...rest }],
  usageMetadata,
})

test.each(ways)(
  'finding Q5: a Gemini answer is charged by its last counts: %s, as a stream: %p',
  async (path, stream, body) => {
    front.answer = () =>
      eventsOf(
        eventOf('Good ', { promptTokenCount: 169, candidatesTokenCount: 9, totalTokenCount: 178 }),
        eventOf(
          'day.',
          { promptTokenCount: 79, candidatesTokenCount: 5, totalTokenCount: 84 },
          { finishReason: 'STOP' },
        ),
      )
    const answer = await front.post(path, { model: gemini, stream, ...body })
    const counted = { inputTokens: 79, outputTokens: 5, estimated: false, cost: priceOf(79, 5) }
    expect(await front.booked(answer)).toMatchObject(counted)
    const name = path.includes('completions') ? 'prompt_tokens' : 'input_tokens'
    // In a stream of chat only where it was requested.
    if (!stream || !path.includes('completions')) expect(answer.text).toContain(`"${name}":79`)
  },
)

/** Nano-dollars: Perplexity's fee by the smallest search context, and the highest, which the price has. */
const [lowFee, highFee] = [5_000_000n, 12_000_000n]
const tokens = { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 }
const costs = { input_tokens_cost: 0.00001, output_tokens_cost: 0.00001 }
const stating = (request_cost: unknown): Json => ({
  ...tokens,
  search_context_size: 'low',
  cost: { ...costs, request_cost, total_cost: 0.00502 },
})
const content = 'Something of twelve tokens, or about as many as that.'

const chunkOf = (delta: Json, finish_reason: string | null, counted: Json) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  usage: counted,
})

/** Answers as Perplexity does: a stream counts in each chunk, and states costs in the last. */
function answerOf(usage: Json) {
  front.answer = ({ body }) =>
    body['stream'] === true
      ? eventsOf(
          chunkOf({ role: 'assistant', content }, null, tokens),
          chunkOf({ content: '' }, 'stop', usage),
          '[DONE]',
        )
      : Response.json({
          id: 'c',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
          usage,
        })
}

/** At a dollar a million tokens, either side. */
const sonarCost = (fee: bigint) => 21n * 1000n + fee

test.each(ways)(
  'finding Q3: Perplexity is charged with the fee that it states: %s, as a stream: %p',
  async (path, stream, body) => {
    answerOf(stating(0.005))
    const answer = await front.post(path, { model: 'perplexity/sonar', stream, ...body })
    expect(await front.booked(answer)).toMatchObject({ cost: sonarCost(lowFee), estimated: false })
  },
)

test.each([
  ['above the price', stating(0.5), highFee],
  ['without an amount', stating('0.005'), highFee],
  ['below zero', stating(-1), highFee],
  ['of nothing', stating(0), 0n],
  ['missing', tokens, highFee],
])('finding Q3: a fee %s', async (_what, usage, fee) => {
  answerOf(usage)
  const answer = await front.chat('perplexity/sonar')
  expect(await front.booked(answer)).toMatchObject({ cost: sonarCost(fee) })
  const { headers } = answer
  const log = await readLog(front.gateway, front.customer, { headers, part: '/details' })
  // The rates that it was charged by.
  expect(log['pricing']).toMatchObject({ request: Number(fee) / 1e9 })
})
