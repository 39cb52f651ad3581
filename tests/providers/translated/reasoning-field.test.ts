import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front, type ProviderRequest } from './front'

let front: Front

const made = { category: 'chat', capabilities: { reasoning: true, tools: true } }
const openRouter = 'openrouter/anthropic/claude-thinks'
const xai = 'xai/thinks'
const plain = 'xai/speaks'
const claude = 'anthropic/claude-sonnet-4-5-thinks'

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    OPENROUTER_API_KEY: upstreamSecret,
    OPENROUTER_BASE_URL: url,
    XAI_API_KEY: upstreamSecret,
    XAI_BASE_URL: url,
  }))
  for (const model of [openRouter, xai, claude]) await front.price(model, made)
  await front.price(plain, { ...made, capabilities: { reasoning: false, tools: true } })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }

function answer({ path }: ProviderRequest): Response {
  if (!path.endsWith('/messages')) {
    const message = { role: 'assistant', content: 'Yes.' }
    return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
  }
  const counts = { input_tokens: 9, output_tokens: 1 }
  return eventsOf(
    { type: 'message_start', message: { id: 'm', content: [], usage: counts } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  )
}

/** The request as it reached the provider, and the fields that the caller is told of. */
async function sendFields(model: string, fields: Json) {
  front.answer = answer
  const { status, headers } = await front.chat(model, fields)
  expect(status).toBe(200)
  const { reasoning, reasoning_effort: effort, thinking } = front.requests[0]?.body ?? {}
  return { reasoning, effort, thinking, omitted: headers.get('x-tollgate-omitted') }
}

describe('finding Q4: `reasoning` of a chat', () => {
  test.each([[{ enabled: true }], [{ max_tokens: 2000 }], [{ effort: 'high', exclude: true }]])(
    '%j reaches OpenRouter as it was sent',
    async (reasoning) => {
      const sent = await sendFields(openRouter, { reasoning })
      expect(sent).toMatchObject({ reasoning, effort: undefined, omitted: null })
    },
  )

  test('with an effort beside it, OpenRouter receives one field', async () => {
    const fields = { reasoning: { exclude: true }, reasoning_effort: 'low' }
    const sent = await sendFields(openRouter, fields)
    expect(sent).toMatchObject({ reasoning: { exclude: true, effort: 'low' }, effort: undefined })
  })

  test.each([
    [{ enabled: true }, 'medium', null],
    [{ max_tokens: 20_000 }, 'high', null],
    [{ effort: 'high', exclude: true }, 'high', 'reasoning.exclude'],
    [{ enabled: false }, undefined, 'reasoning.enabled'],
  ])('%j is the effort %p for others of the format', async (reasoning, effort, omitted) => {
    expect(await sendFields(xai, { reasoning })).toMatchObject({
      reasoning: undefined,
      effort,
      omitted,
    })
  })

  test('a model that does not think receives no effort, and it is named', async () => {
    const sent = await sendFields(plain, { reasoning: { max_tokens: 2000 } })
    expect(sent).toMatchObject({ effort: undefined, omitted: 'reasoning.max_tokens' })
  })

  test('is a budget of thinking for Claude, and parts without a counterpart are named', async () => {
    const fields = { reasoning: { enabled: true, exclude: true }, max_tokens: 8000 }
    const sent = await sendFields(claude, fields)
    expect(sent.thinking).toMatchObject({ type: 'enabled' })
    expect(sent.omitted).toBe('reasoning.exclude')
  })
})
