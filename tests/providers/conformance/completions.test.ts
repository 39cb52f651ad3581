import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { CompletionCreateParams } from 'openai/resources/completions'
import {
  choicesOf,
  chunksOf,
  errorOf,
  failureOf,
  createFixture,
  textOf,
  type Json,
  type Fixture,
} from './fixture'

let fixture: Fixture
const path = '/v1/completions'
const greeting = 'All is well at the fake provider today, thank you.'
const native = 'fake/writes'
const chat = 'fake/chats'

beforeAll(async () => {
  fixture = await createFixture()
  await fixture.model('writes', { upstream_model: 'ok', category: 'completion' })
  await fixture.model('chats', { upstream_model: 'ok' })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const create = (model: string, fields: Omit<CompletionCreateParams, 'model' | 'stream'>) =>
  fixture.client.completions.create({ model, ...fields })

/** Text and end of each choice of a stream, and the chunks with usage. */
async function streamed(model: string, fields: Json) {
  const chunks = await chunksOf(await fixture.post(path, { model, stream: true, ...fields }))
  const texts: string[] = []
  const ends: unknown[] = []
  for (const choice of chunks.flatMap(choicesOf)) {
    const index = Number(choice['index'])
    texts[index] = (texts[index] ?? '') + textOf(choice)
    if (choice['finish_reason'] !== null) ends[index] = choice['finish_reason']
  }
  return { texts, ends, usage: chunks.flatMap((chunk) => chunk['usage'] ?? []), chunks }
}

describe.each([native, chat])('%s', (model) => {
  test('completes a text, whole and streamed', async () => {
    const whole = await create(model, { prompt: 'Go on.' })
    expect(whole).toMatchObject({ object: 'text_completion', model })
    expect(whole.id).toStartWith('cmpl-')
    expect(whole.choices).toEqual([
      { text: greeting, index: 0, logprobs: null, finish_reason: 'stop' },
    ])
    expect(whole.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 10, total_tokens: 12 })

    const stream = await fixture.client.completions.create({
      model,
      prompt: 'Go on.',
      stream: true,
    })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe(greeting)
    expect(
      chunks.every(({ object, id }) => object === 'text_completion' && id.startsWith('cmpl-')),
    ).toBeTrue()
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  })

  test('numbers the choices of several prompts: prompt × n + k', async () => {
    const fields = { prompt: ['a', 'b b', 'c c c'], n: 2 }
    const whole = await create(model, fields)
    expect(whole.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    expect(whole.choices.map(({ text }) => text)).toEqual(Array(6).fill(greeting))
    expect(whole.usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 60 })
    const stream = await streamed(model, { ...fields, stream_options: { include_usage: true } })
    expect(stream.texts).toEqual(Array(6).fill(greeting))
    expect(stream.ends).toEqual(Array(6).fill('stop'))
    expect(stream.usage).toMatchObject([{ prompt_tokens: 6, completion_tokens: 60 }])
  })

  test('shows usage in a stream only on request', async () => {
    expect((await streamed(model, { prompt: 'a' })).usage).toEqual([])
    const { usage, chunks } = await streamed(model, {
      prompt: 'a',
      stream_options: { include_usage: true },
    })
    expect(usage).toHaveLength(1)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 11 } })
  })

  test('passes on sampling parameters, and no limit of zero', async () => {
    const tuning = { stop: ['END'], seed: 4, temperature: 0.5, top_p: 0.9, user: 'me', top_k: 3 }
    await fixture.post(path, {
      model,
      prompt: 'a',
      max_tokens: 0,
      best_of: 0,
      logit_bias: null,
      ...tuning,
    })
    const user = expect.stringMatching(/^[\da-f]{48}$/)
    expect(fixture.sent()).toMatchObject({ model: 'ok', ...tuning, user })
    expect(fixture.sent()).not.toContainAnyKeys([
      'max_tokens',
      'best_of',
      'logit_bias',
      'stream_options',
    ])
    const cut = await create(model, { prompt: 'a', max_tokens: 2 })
    expect(cut.choices[0]).toMatchObject({ text: 'All is', finish_reason: 'length' })
  })

  test.each([
    [{}, 'prompt', 'required'],
    [{ prompt: '' }, 'prompt', 'too_short'],
    [{ prompt: [] }, 'prompt', 'empty'],
    [{ prompt: 'a', logprobs: 6 }, 'logprobs', 'out_of_range'],
    [{ prompt: 'a', best_of: 21 }, 'best_of', 'out_of_range'],
  ])('refuses %j', async (fields, param, issue) => {
    const response = await fixture.post(path, { model, ...fields })
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
  })
})

test('a model of its own kind receives the prompt in any of its four forms, and everything else', async () => {
  for (const prompt of ['a', ['a', 'b'], [1, 2, 3], [[1, 2], [3]]]) {
    await create(native, { prompt, echo: true, suffix: 'end', best_of: 2, logprobs: 3 })
    expect(fixture.sent()).toEqual({
      model: 'ok',
      prompt,
      echo: true,
      suffix: 'end',
      best_of: 2,
      logprobs: 3,
    })
  }
})

test('with `echo` a limit of zero reaches a model of its own kind: no output at all', async () => {
  await fixture.post(path, { model: native, prompt: 'a', echo: true, max_tokens: 0 })
  expect(fixture.sent()).toMatchObject({ echo: true, max_tokens: 0 })
})

test('a chat model receives the prompt as one user message', async () => {
  await create(chat, { prompt: 'Go on.', suffix: 'end', best_of: 2, logprobs: 3 })
  expect(fixture.sent()).toEqual({ model: 'ok', messages: [{ role: 'user', content: 'Go on.' }] })
})

test.each([[[1, 2, 3]], [[[1, 2], [3]]]])('a chat model refuses token ids %j', async (prompt) => {
  const params = { model: chat, prompt }
  expect(await failureOf(fixture.client.completions.create(params))).toMatchObject({
    status: 400,
    code: 'invalid_request',
    param: 'prompt',
  })
})

test('`echo` puts each prompt in front of its own texts', async () => {
  const fields = { prompt: ['a', 'b'], n: 2, echo: true }
  const wanted = ['a', 'a', 'b', 'b'].map((prompt) => prompt + greeting)
  const whole = await create(chat, fields)
  expect(whole.choices.map(({ text }) => text)).toEqual(wanted)
  expect((await streamed(chat, fields)).texts).toEqual(wanted)
})

test('`echo` with a limit of zero is the prompt alone, on a chat model too', async () => {
  const fields = { prompt: ['a', 'b'], echo: true, max_tokens: 0 }
  const whole = await create(chat, fields)
  expect(whole.choices).toMatchObject([
    { text: 'a', index: 0, finish_reason: 'length' },
    { text: 'b', index: 1, finish_reason: 'length' },
  ])
  const stream = await streamed(chat, fields)
  expect(stream).toMatchObject({ texts: ['a', 'b'], ends: ['length', 'length'] })
})

test('a chat model’s thinking is not part of a completion', async () => {
  const model = await fixture.model('reasoning')
  expect((await create(model, { prompt: 'a' })).choices[0]?.text).toBe('Hello to you.')
  expect((await streamed(model, { prompt: 'a' })).texts).toEqual(['Hello to you.'])
})

test('an embedding model completes nothing', async () => {
  const model = await fixture.model('embeds', { upstream_model: 'ok', category: 'embedding' })
  expect(await failureOf(create(model, { prompt: 'a' }))).toMatchObject({ param: 'model' })
})

test('U08: a legacy stream that ends early raises, also in its second prompt', async () => {
  const model = await fixture.model('end-after-3')
  const reading = async () => {
    const params = { model, prompt: ['a', 'b'], stream: true as const }
    await Array.fromAsync(await fixture.client.completions.create(params))
  }
  expect(await failureOf(reading())).toMatchObject({ code: 'provider_error' })
})

test('finding P10: a legacy stream that ends without [DONE] is whole, each of its prompts', async () => {
  const model = await fixture.model('no-done')
  const { texts } = await streamed(model, { prompt: ['a', 'b'] })
  expect(texts).toHaveLength(2)
  for (const text of texts) expect(text).toContain('All is well')
})
