import { expect, test } from 'bun:test'
import { z } from 'zod'
import { providers } from '../providers/registry'
import { builtInModels, builtInModelsByTime, priceSlot } from './built-in'
import { capabilities, categories } from './model'
import lines from './models.json' with { type: 'json' }

const at = new Date('2026-11-21T12:00:00Z')
const models = builtInModels(providers, at)
const named = (id: string) => models.find((model) => model.id === id)

const tokens = z.int().positive()
const kinds = z.enum(['text', 'image', 'audio', 'video', 'embedding'])
const Line = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,39}\/.+$/),
  name: z.string().min(1),
  category: z.enum(categories),
  context_length: tokens.optional(),
  max_output_tokens: tokens.optional(),
  input: z.array(kinds).min(1),
  output: z.array(kinds).min(1),
  capabilities: z.array(z.enum(capabilities)),
  created: z.int().min(Date.UTC(2019, 0) / 1000),
  deprecated: z.int().optional(),
  dimensions: tokens.optional(),
})

test('every line of models.json can be read, named once and in order', () => {
  for (const line of lines) {
    Line.parse(line)
    expect(line.id.length).toBeLessThanOrEqual(256)
  }
  const ids = lines.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
})

test('no line claims more output than its context holds', () => {
  for (const { context_length: context = Infinity, max_output_tokens: output = 0 } of lines) {
    expect(output).toBeLessThanOrEqual(context)
  }
})

test('models of a provider without a row are left out', () => {
  const served = new Set(providers.map(({ key }) => key))
  for (const { provider } of models) expect(served).toContain(provider)
  expect(builtInModels([])).toEqual([])
})

test('a well-known model is there, whole', () => {
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

test('providers of embeddings alone list nothing else, and those without list none', () => {
  for (const { key, embeddings } of providers) {
    const own = models.filter(({ provider }) => provider === key)
    if (embeddings === 'only')
      expect(own.every(({ category }) => category === 'embedding')).toBe(true)
    if (embeddings === 'no')
      expect(own.some(({ category }) => category === 'embedding')).toBe(false)
  }
})

test('free means every price is known and zero', () => {
  for (const { isFree, pricing, category } of models) {
    const prices = Object.values(pricing ?? {})
    expect(isFree).toBe(prices.length > 0 && prices.every((price) => price === 0n))
    // Half a price would give the answers away.
    if (pricing && !isFree && category !== 'embedding') expect(pricing.output).toBeGreaterThan(0n)
  }
})

test('the sandbox is free, simulated and there without any key', () => {
  const sandbox = models.filter(({ provider }) => provider === 'sandbox')
  expect(sandbox.map(({ id }) => id)).toEqual([
    'sandbox/echo',
    'sandbox/lorem',
    'sandbox/tools',
    'sandbox/embedding',
  ])
  for (const model of sandbox) expect(model).toMatchObject({ isFree: true, simulated: true })
  expect(named('sandbox/tools')).toMatchObject({
    contextLength: 128_000,
    maxOutputTokens: 4096,
    capabilities: { tools: true, json_mode: true, streaming: true, vision: false },
  })
  expect(named('sandbox/embedding')).toMatchObject({ dimensions: 256, contextLength: null })
})

const deepseekPrice = (list: typeof models) =>
  list.find(({ id }) => id === 'deepseek/deepseek-v4-pro')?.pricing?.input

test('prices by the hour change when their hour comes, and nothing is made anew in between', () => {
  const modelsAt = builtInModelsByTime(providers)
  const at = (time: string) => modelsAt(Date.parse(`2026-11-21T${time}Z`))
  const before = at('03:30:00')
  expect(at('03:59:59')).toBe(before)
  expect(deepseekPrice(at('04:00:00'))).not.toBe(deepseekPrice(before))
  // Whatever the data say: no price changes inside such a time.
  for (let minute = 0; minute < 24 * 60; minute += 10) {
    const now = new Date(Date.UTC(2026, 10, 21, 0, minute))
    const asKept = builtInModelsByTime(providers)(Math.floor(Number(now) / 1_800_000) * 1_800_000)
    expect(priceSlot(Number(now))).toBe(Math.floor(Number(now) / 1_800_000))
    expect(builtInModels(providers, now).map(({ pricing }) => pricing)).toEqual(
      asKept.map(({ pricing }) => pricing),
    )
  }
})
