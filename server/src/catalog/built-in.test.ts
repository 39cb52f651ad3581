import { expect, test } from 'bun:test'
import { providers } from '../providers/registry'
import { loadBuiltInModels, createBuiltInModels } from './built-in'
import { writesText } from './model'

const at = new Date('2026-11-23T12:00:00Z')
const models = loadBuiltInModels(providers, at)
const named = (id: string) => models.find((model) => model.id === id)

test('models of a provider without a row are left out', () => {
  const served = new Set(providers.map(({ key }) => key))
  for (const { provider } of models) expect(served).toContain(provider)
  expect(loadBuiltInModels([])).toEqual([])
})

test('a well-known model is listed with all of its fields', () => {
  expect(named('openai/gpt-4o')).toMatchObject({
    provider: 'openai',
    upstreamModel: 'gpt-4o',
    category: 'chat',
    contextLength: 128_000,
    maxOutputTokens: 16_384,
    capabilities: { vision: true, tools: true, streaming: true, json_schema: true, audio: false },
    pricing: { input: 2_500_000_000n, output: 10_000_000_000n },
    isFree: false,
    enabled: true,
    createdAt: Date.UTC(2024, 4, 13) / 1000,
    simulated: false,
  })
})

test.each([
  ['openai/gpt-5-2025-08-07', 400_000, 272_000],
  ['openai/gpt-5', 400_000, 272_000],
  ['azure/gpt-5.4-nano-2026-03-17', 400_000, 272_000],
  ['openai/gpt-5.6-sol', 1_050_000, 922_000],
  ['azure/gpt-6.1-sol-2026-09-29', 1_050_000, 922_000],
])(
  'finding D9: %s has a context of %i tokens, prompts of %i',
  (id, contextLength, maxInputTokens) => {
    expect(named(id)).toMatchObject({ contextLength, maxInputTokens, maxOutputTokens: 128_000 })
  },
)

test('finding D9: no model of OpenAI has the longest prompt as its context', () => {
  const cut = models.filter(({ contextLength }) => [272_000, 922_000].includes(contextLength ?? 0))
  expect(cut.filter(({ id }) => /(^|[/.])gpt-/.test(id)).map(({ id }) => id)).toEqual([])
})

test('a model id keeps the slashes of its provider', () => {
  const model = models.find(({ id }) => id.startsWith('cloudflare/'))
  expect(model?.upstreamModel).toStartWith('@cf/')
  expect(`cloudflare/${model?.upstreamModel}`).toBe(model?.id ?? '')
})

test('an embedding model has no context and does not stream', () => {
  expect(named('openai/text-embedding-3-large')).toMatchObject({
    category: 'embedding',
    contextLength: null,
    maxOutputTokens: null,
    dimensions: 3072,
    capabilities: { streaming: false, tools: false },
    pricing: { input: 130_000_000n, output: 0n },
  })
})

test('providers of embeddings alone list no model that writes text, and providers without them none', () => {
  for (const { key, embeddings } of providers) {
    const own = models.filter(({ provider }) => provider === key)
    if (embeddings === 'only') expect(own.some(({ category }) => writesText(category))).toBe(false)
    if (embeddings === 'no')
      expect(own.some(({ category }) => category === 'embedding')).toBe(false)
  }
})

test('free means every price is known and zero', () => {
  for (const { isFree, pricing, category } of models) {
    const { search = 0n, inputCharacters = 0n, audioHour = 0n, madeImage = 0n } = pricing ?? {}
    const prices = [pricing?.input, pricing?.output, search, inputCharacters, audioHour, madeImage]
    expect(isFree).toBe(prices.every((price) => price === 0n))
    // Half a price would give the answers away.
    if (pricing && !isFree && writesText(category)) expect(pricing.output).toBeGreaterThan(0n)
  }
})

test('the sandbox is free, simulated and there without any key', () => {
  const sandbox = models.filter(({ provider }) => provider === 'sandbox')
  expect(sandbox.map(({ id }) => id)).toEqual([
    'sandbox/echo',
    'sandbox/lorem',
    'sandbox/tools',
    'sandbox/embedding',
    'sandbox/moderation',
    'sandbox/rerank',
    'sandbox/speech',
    'sandbox/transcription',
    'sandbox/image',
  ])
  for (const model of sandbox) expect(model).toMatchObject({ isFree: true, simulated: true })
  expect(named('sandbox/tools')).toMatchObject({
    contextLength: 128_000,
    maxOutputTokens: 4096,
    capabilities: { tools: true, json_mode: true, streaming: true, vision: false },
  })
  expect(named('sandbox/embedding')).toMatchObject({ dimensions: 256, contextLength: null })
})

const introduced = (list: typeof models) =>
  list.find(({ id }) => id === 'google/gemini-3.6-flash')?.pricing?.input

test('prices change with the day of UTC, and nothing is made anew in between', () => {
  const modelsAt = createBuiltInModels(providers)
  const at = (time: string) => modelsAt(Date.parse(time))
  const before = at('2026-12-31T00:00:00Z')
  expect(at('2026-12-31T23:59:59Z')).toBe(before)
  // The introductory price ends with the year: https://ai.google.dev/gemini-api/docs/pricing
  expect(introduced(before)).toBe(750_000_000n)
  expect(introduced(at('2027-01-01T00:00:00Z'))).toBe(1_500_000_000n)
})

const deepseekOn = (time: string) =>
  loadBuiltInModels(providers, new Date(time)).find(({ id }) => id === 'deepseek/deepseek-v4-pro')
    ?.pricing

test('prices by the hour are part of a price, on the days on which they hold', () => {
  const peak = { input: 1_320_000_000n, output: 3_960_000_000n, cachedInput: 44_000_000n }
  expect(deepseekOn('2026-11-23T12:00:00Z')).toEqual({
    input: 660_000_000n,
    output: 1_980_000_000n,
    cachedInput: 22_000_000n,
    tiers: [
      { hours: { from: 60, until: 240 }, rates: peak },
      { hours: { from: 360, until: 600 }, rates: peak },
    ],
  })
  expect(deepseekOn('2026-11-22T12:00:00Z')?.tiers).toBeUndefined()
})

// As the providers publish them, in nano-dollars per million tokens.
test.each([
  [
    'openai/gpt-4o',
    { input: 2_500_000_000n, output: 10_000_000_000n, cachedInput: 1_250_000_000n },
  ],
  ['openai/gpt-4o-mini', { input: 150_000_000n, output: 600_000_000n, cachedInput: 75_000_000n }],
  ['openai/text-embedding-3-small', { input: 20_000_000n, output: 0n }],
  ['mistral/mistral-embed', { input: 100_000_000n }],
  [
    'anthropic/claude-haiku-4-5',
    {
      input: 1_000_000_000n,
      output: 5_000_000_000n,
      cacheWrite: 1_250_000_000n,
      cacheWriteLong: 2_000_000_000n,
      search: 10_000_000n,
    },
  ],
  ['perplexity/sonar', { input: 1_000_000_000n, output: 1_000_000_000n, request: 12_000_000n }],
  // https://docs.mistral.ai/inference/pricing, since 2026-10-29.
  ['mistral/mistral-large-4', { input: 700_000_000n, output: 2_100_000_000n }],
])('%s has its published price', (id, price) => {
  expect(named(id)?.pricing).toMatchObject(price)
})

test('finding P1: a price that rises with the prompt has a tier for each length', () => {
  const pricing = named('openai/gpt-6-sol')?.pricing
  expect(pricing).toMatchObject({
    input: 2_000_000_000n,
    output: 10_000_000_000n,
    cachedInput: 200_000_000n,
  })
  expect(pricing?.tiers?.[0]).toMatchObject({
    above: 272_000,
    rates: { input: 4_000_000_000n, output: 15_000_000_000n, cachedInput: 400_000_000n },
  })
})

test('finding P1: Claude Sonnet 4.5 has no price for prompts that it does not take', () => {
  expect(named('anthropic/claude-sonnet-4-5')).toMatchObject({ contextLength: 200_000 })
  const tiers = named('anthropic/claude-sonnet-4-5')?.pricing?.tiers ?? []
  expect(tiers.filter(({ above }) => above !== undefined)).toEqual([])
})
