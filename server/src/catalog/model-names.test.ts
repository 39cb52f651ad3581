import { describe, expect, test } from 'bun:test'
import { loadBuiltInModels } from './built-in'
import { findModelByName, isNameOfDisabled, toProviderKey, withProviderKey } from './model-names'
import { sampleModel, sampleProvider } from '../../testing/catalog/samples'
import { toSnapshot } from './snapshot'
import { providers } from '../providers/registry'

const snapshot = toSnapshot({
  models: loadBuiltInModels(providers, new Date('2026-11-23T12:00:00Z')),
  providers,
  connections: [],
})
const meaningOf = (id: string) => {
  const model = findModelByName(snapshot, id)
  return model && [model.id, model.upstreamModel]
}

describe('finding P2: common names mean a model that has a price', () => {
  test.each([
    'openai/o4-mini',
    'openai/gpt-4o',
    'openai/gpt-4o-2024-08-06',
    'openai/gpt-4o-2024-05-13',
    'openai/gpt-4.1-nano',
    'openai/gpt-4.1-nano-2025-04-14',
    'openai/o3-mini-2025-01-31',
    'openai/gpt-5.6-sol-latest',
    'anthropic/claude-sonnet-4-5',
    'anthropic/claude-sonnet-4-5-20250929',
    'anthropic/claude-sonnet-4.5',
    'anthropic/claude-opus-5-5-latest',
    'deepseek/deepseek-chat',
    'deepseek/deepseek-reasoner',
    'google/models/gemini-2.5-pro',
    'google/gemini-2.5-pro-latest',
    'mistral/mistral-large-latest',
    'bedrock/claude-sonnet-4-5',
    'vertex/claude-3-sonnet-20240229',
    'fireworks/kimi-k3.1-pro',
    'groq/gpt-oss-120b',
    'together/GLM-5.3',
  ])('%s', (id) => {
    const model = findModelByName(snapshot, id)
    expect(model?.pricing?.input).toBeGreaterThan(0n)
  })
})

test.each([
  // A date behind a listed name is what the provider is asked for; the model is the listed one.
  ['openai/o4-mini-2025-04-16', 'openai/o4-mini', 'o4-mini-2025-04-16'],
  ['deepseek/deepseek-chat', 'deepseek/deepseek-flash', 'deepseek-flash'],
  ['anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5'],
  ['groq/gpt-oss-120b', 'groq/openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
  [
    'bedrock/claude-sonnet-4-5',
    'bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
  ],
])('%s means %s, and the provider receives %s', (id, model, upstream) => {
  expect(meaningOf(id)).toEqual([model, upstream])
})

test('a snapshot with a price of its own keeps it', () => {
  expect(findModelByName(snapshot, 'openai/gpt-4o-2024-05-13')?.pricing?.input).toBe(5_000_000_000n)
  expect(findModelByName(snapshot, 'openai/gpt-4o-2024-11-20')?.pricing?.input).toBe(2_500_000_000n)
})

test.each([
  'openai/gpt-99',
  'openai/gpt-4o-minimal',
  'openai/2024-08-06',
  'nobody/gpt-4o',
  'openai/',
])('%s means nothing', (id) => {
  expect(findModelByName(snapshot, id)).toBeUndefined()
})

function named(names: string[], id: string) {
  const models = names.map((name, at) => sampleModel({ id: `fake/${name}`, createdAt: at }))
  return findModelByName(toSnapshot({ models, providers: [sampleProvider()], connections: [] }), id)
    ?.id
}

describe('among models of an operator', () => {
  test('a model of that very id comes before all others', () => {
    expect(named(['a.1', 'a-1'], 'fake/a-1')).toBe('fake/a-1')
    expect(named(['a-latest', 'a'], 'fake/a-latest')).toBe('fake/a-latest')
  })

  test('a name without a date means the newest of the dated ones', () => {
    expect(named(['a-2025-01-01', 'a-2026-01-01'], 'fake/a')).toBe('fake/a-2026-01-01')
  })

  test('another date than the listed ones means nothing: its price is not known', () => {
    expect(named(['a-2025-01-01'], 'fake/a-2026-01-01')).toBeUndefined()
  })

  test('a model that is switched off has no other names', () => {
    const models = [sampleModel({ id: 'fake/a.1', enabled: false })]
    const off = toSnapshot({ models, providers: [sampleProvider()], connections: [] })
    expect(findModelByName(off, 'fake/a-1')).toBeUndefined()
  })

  test.each([
    ['fake/a.1', true],
    ['fake/a-1', true],
    ['fake/a.1-2026-01-01', true],
    ['fake/b', true],
    ['fake/b-2026-01-01', false],
    ['fake/c', false],
    ['other/a.1', false],
  ])('finding D10: %s means a model that is switched off: %p', (id, expected) => {
    const models = ['a.1', 'b-2025-01-01'].map((name) =>
      sampleModel({ id: `fake/${name}`, enabled: false }),
    )
    models.push(sampleModel({ id: 'fake/c' }))
    const snapshot = toSnapshot({ models, providers: [sampleProvider()], connections: [] })
    expect(isNameOfDisabled(snapshot, id)).toBe(expected)
  })
})

test('providers are known by the names that other gateways have for them', () => {
  expect(withProviderKey('gemini/gemini-2.5-pro')).toBe('google/gemini-2.5-pro')
  expect(withProviderKey('together_ai/a/b')).toBe('together/a/b')
  expect(withProviderKey('openai/gpt-4o')).toBeUndefined()
})

test.each([
  ['Alibaba', 'dashscope'],
  ['Amazon Bedrock', 'bedrock'],
  ['Azure', 'azure'],
  ['BytePlus', 'ark'],
  ['Cerebras', 'cerebras'],
  ['DeepInfra', 'deepinfra'],
  ['deepinfra/turbo', 'deepinfra'],
  ['Fireworks', 'fireworks'],
  ['Friendli', 'friendli'],
  ['Google AI Studio', 'google'],
  ['Google Vertex', 'vertex'],
  ['google-vertex/europe', 'vertex'],
  ['Minimax', 'minimax'],
  ['Mistral', 'mistral'],
  ['Moonshot AI', 'moonshot'],
  ['moonshotai', 'moonshot'],
  ['Nebius', 'nebius'],
  ['Novita', 'novita'],
  ['Nvidia', 'nvidia'],
  ['Together', 'together'],
  ['xAI', 'xai'],
  ['Z.AI', 'zai'],
  ['z-ai/fp8', 'zai'],
])('finding D8: %s is OpenRouter’s name for %s', (name, key) => {
  expect(toProviderKey(name)).toBe(key)
  expect(providers.map((provider) => provider.key)).toContain(key)
})
