import { expect, test } from 'bun:test'
import { AnthropicModel, toAnthropicModel } from './anthropic-models'
import { EncodedModels } from './encoded-models'
import { toCollectionFacts, toListedModel } from './listed-model'
import { toListedPrices } from './listed-prices'
import { ListedModel } from './schema'
import { loadBuiltInModels } from '../catalog/built-in'
import type { Model } from '../catalog/model'
import { rateFields } from '../catalog/pricing-fields'
import { toSnapshot } from '../catalog/snapshot'
import { providers } from '../providers/registry'
import { sampleModel, sampleProvider } from '../../testing/catalog/samples'

const snapshot = toSnapshot({ models: [], providers: [sampleProvider()], connections: [] })
const usual = sampleModel().capabilities

test('finding D5: a listed model has the fields of OpenAI, and the fields that clients of OpenRouter read', () => {
  const model = sampleModel({
    id: 'fake/org/one:free',
    contextLength: 400_000,
    maxInputTokens: 272_000,
    maxOutputTokens: 128_000,
    capabilities: { ...usual, vision: true, tools: true, reasoning: true, json_schema: true },
    pricing: {
      input: 1_250_000_000n,
      output: 10_000_000_000n,
      cachedInput: 125_000_000n,
      cacheWrite: 1n,
      search: 10_000_000n,
      request: 5_000_000n,
    },
    deprecatedAt: Date.UTC(2026, 11, 11) / 1000,
  })
  expect(toListedModel(model, snapshot)).toEqual({
    id: 'fake/org/one:free',
    object: 'model',
    created: 1_700_000_000,
    owned_by: 'fake',
    permission: [],
    root: 'org/one:free',
    parent: null,
    name: 'One',
    mode: 'chat',
    canonical_slug: 'fake/org/one:free',
    context_length: 400_000,
    max_output_tokens: 128_000,
    architecture: {
      modality: 'text+image->text',
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      tokenizer: 'Other',
      instruct_type: null,
    },
    // USD a token, exact.
    pricing: {
      prompt: '0.00000125',
      completion: '0.00001',
      input_cache_read: '0.000000125',
      input_cache_write: '0.000000000000001',
      request: '0.005',
      web_search: '0.01',
    },
    top_provider: {
      context_length: 400_000,
      max_completion_tokens: 128_000,
      is_moderated: false,
    },
    per_request_limits: { prompt_tokens: 272_000, completion_tokens: 128_000 },
    supported_parameters: [
      'max_tokens',
      'max_completion_tokens',
      'stop',
      'temperature',
      'top_p',
      'frequency_penalty',
      'presence_penalty',
      'seed',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'reasoning',
      'reasoning_effort',
      'response_format',
      'structured_outputs',
    ],
    supported_voices: null,
    default_parameters: null,
    expiration_date: '2026-12-11',
    links: { details: '/api/models/fake/org/one:free' },
  })
})

test('finding D5: an unknown price is never shown as zero, and a free model costs nothing', () => {
  const pricingOf = (fields: Partial<Parameters<typeof toListedModel>[0]>) =>
    toListedModel({ ...sampleModel(), ...fields }, snapshot).pricing
  expect(pricingOf({ pricing: null })).toEqual({ prompt: '-1', completion: '-1' })
  expect(pricingOf({ pricing: null, isFree: true })).toEqual({ prompt: '0', completion: '0' })
  const collection = toListedModel(toCollectionFacts({ name: 'mine', createdAt: 7 }), snapshot)
  expect(collection).toMatchObject({
    id: 'collection/mine',
    owned_by: 'collection',
    created: 7,
    context_length: null,
    pricing: { prompt: '-1', completion: '-1' },
    links: { details: '/api/user/model-collections' },
  })
})

const listedPricing = (category: Model['category'], pricing: Model['pricing']) =>
  toListedModel(sampleModel({ category, pricing }), snapshot).pricing

test('the price of a character that a model speaks is listed as that of the prompt, as OpenRouter does', () => {
  const byCharacter = { input: 0n, output: 0n, inputCharacters: 15_000_000_000n }
  expect(listedPricing('speech', byCharacter)).toEqual({
    prompt: '0.000015',
    completion: '0',
    input_cost_per_character: '0.000015',
  })
  expect(listedPricing('chat', byCharacter)).toMatchObject({ prompt: '0' })
  const byBoth = { ...byCharacter, input: 600_000_000n }
  expect(listedPricing('speech', byBoth)).toMatchObject({ prompt: '0.0000006' })
})

test.each([
  ['chat', 'chat', 'text->text'],
  ['embedding', 'embedding', 'text->embeddings'],
  ['moderation', 'moderation', 'text->moderation'],
  ['rerank', 'rerank', 'text->rerank'],
  ['image', 'image_generation', 'text->image'],
  ['speech', 'audio_speech', 'text->speech'],
  ['transcription', 'audio_transcription', 'audio->transcription'],
] as const)(
  'a model of the kind %s is listed in the words of LiteLLM and OpenRouter: %s, %s',
  (category, mode, modality) => {
    const listed = toListedModel(sampleModel({ category }), snapshot)
    const [input = '', output = ''] = modality.split('->')
    expect(listed).toMatchObject({
      mode,
      architecture: { modality, input_modalities: [input], output_modalities: [output] },
    })
  },
)

const modalityOf = (fields: Partial<Model>) =>
  toListedModel(sampleModel(fields), snapshot).architecture.modality

test('a model for pictures that reads some, and a chat model that speaks, are listed as such', () => {
  const capabilities = { ...usual, vision: true }
  expect(modalityOf({ category: 'image', capabilities })).toBe('text+image->image')
  expect(modalityOf({ category: 'speech', capabilities: { ...usual, audio: true } })).toBe(
    'text->speech',
  )
  const pricing = { input: 1n, output: 1n, audioOutput: 1n }
  expect(modalityOf({ pricing, capabilities: { ...usual, audio: true } })).toBe(
    'text+audio->text+audio',
  )
})

const listedAs = (category: Model['category']) =>
  toListedModel(sampleModel({ category, contextLength: null, maxInputTokens: 8191 }), snapshot)

test('models that do not write have the fields of their requests, and the length of the longest input', () => {
  expect(listedAs('speech').supported_parameters).toEqual(['voice', 'response_format', 'speed'])
  expect(listedAs('image').supported_parameters).toContain('size')
  expect(listedAs('moderation').supported_parameters).toEqual([])
  expect(listedAs('embedding')).toMatchObject({
    context_length: 8191,
    top_provider: { context_length: 8191 },
  })
})

test('every rate of a price has a name of its own in the list, and its unit', () => {
  const rates = Object.keys(rateFields)
  const pricing = { input: 1n, output: 1n, ...Object.fromEntries(rates.map((rate) => [rate, 1n])) }
  expect(Object.keys(toListedPrices({ category: 'chat', pricing, isFree: false }))).toHaveLength(
    rates.length,
  )
  const price = { input: 0n, output: 0n, inputCharacters: 15_000_000_000n, request: 5_000_000n }
  expect(toListedPrices({ category: 'chat', pricing: price, isFree: false })).toEqual({
    prompt: '0',
    completion: '0',
    input_cost_per_character: '0.000015',
    request: '0.005',
  })
})

test('finding D5: fields that a provider, or a model that thinks, refuses are not listed as supported', () => {
  const openai = toSnapshot({ models: [], providers, connections: [] })
  const fieldsOf = (id: string) => {
    const provider = id.slice(0, id.indexOf('/'))
    return toListedModel(sampleModel({ id, provider }), openai).supported_parameters
  }
  expect(fieldsOf('openai/gpt-4o')).toContain('temperature')
  expect(fieldsOf('openai/gpt-5')).not.toContain('temperature')
  expect(fieldsOf('anthropic/claude-sonnet-5')).not.toContain('seed')
})

test('every model of the catalogue is listed as described, in both formats', () => {
  const at = new Date('2026-11-23T12:00:00Z')
  const all = toSnapshot({ models: loadBuiltInModels(providers, at), providers, connections: [] })
  for (const model of all.models.values()) {
    ListedModel.parse(toListedModel(model, all))
    AnthropicModel.parse(toAnthropicModel(model))
  }
})

test('finding D5: in Anthropic’s format a model has its lengths, its capabilities and its end', () => {
  const soon = Math.floor(Date.now() / 1000) + 86_400
  const model = sampleModel({
    id: 'anthropic/claude-opus-4-6',
    contextLength: 1_000_000,
    maxOutputTokens: 128_000,
    capabilities: { ...usual, vision: true, reasoning: true, json_schema: true },
    pricing: { input: 1n, output: 1n, search: 1n },
    deprecatedAt: soon,
  })
  const listed = toAnthropicModel(model)
  expect(listed).toMatchObject({
    type: 'model',
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    lifecycle: 'deprecated',
    deprecated_at: null,
    line: null,
    capabilities: {
      image_input: { supported: true },
      structured_outputs: { supported: true },
      server_tools: { supported: true, web_search: { supported: true } },
      effort: { supported: true, max: { supported: true }, xhigh: { supported: false } },
      thinking: {
        supported: true,
        types: { adaptive: { supported: true }, enabled: { supported: true } },
      },
      batch: { supported: false },
    },
  })
  expect(Date.parse(listed.retires_at ?? '')).toBe(soon * 1000)
  const long = { ...model, maxInputTokens: 272_000, deprecatedAt: soon - 172_800 }
  expect(toAnthropicModel(long)).toMatchObject({ max_input_tokens: 272_000, lifecycle: 'retired' })
  const vectors = sampleModel({ category: 'embedding', contextLength: null })
  expect(toAnthropicModel(vectors)).toMatchObject({ capabilities: null, lifecycle: 'active' })
})

const inOrder = (list: readonly Model[]) => list

test('a model is encoded once in a snapshot, and a shared list once', () => {
  const encoded: string[] = []
  const rows = new EncodedModels(({ id }) => {
    encoded.push(id)
    return { id }
  })
  const models = ['fake/a', 'fake/b'].map((id) => sampleModel({ id }))
  const text = '{"id":"fake/a"},{"id":"fake/b"}'
  expect(rows.list(models, snapshot, inOrder)).toBe(text)
  expect(rows.list([...models], snapshot, inOrder)).toBe(text)
  expect(encoded).toEqual(['fake/a', 'fake/b'])
  // Another snapshot may have other options of the provider.
  const next = toSnapshot({ models: [], providers: [sampleProvider()], connections: [] })
  expect(rows.list([...models], next, inOrder)).toBe(text)
  expect(encoded).toHaveLength(4)
})
