import { describe, expect, test } from 'bun:test'
import { emptyAccountCatalog } from './account-catalog'
import { loadBuiltInModels, readBuiltInCatalog } from './built-in'
import type { Category, Model, Pricing } from './model'
import { isPrice, isServable } from './is-priced'
import { toModels, toModel } from './stored-models'
import { findCandidates } from '../routing/candidate'
import { PoolRotation } from '../routing/pool-rotation'
import { providers } from '../providers/registry'
import { sampleOpen } from '../../testing/catalog/samples'
import { toSnapshot } from './snapshot'

const at = new Date('2026-11-23T12:00:00Z')
const models = loadBuiltInModels(providers, at)

const connection = {
  id: 'conn_1',
  provider: 'openai',
  name: 'Ours',
  baseUrl: 'https://example.com',
  secret: null,
  options: {},
  network: null,
  headers: null,
  priority: 1,
  owner: null,
  isDefault: false,
  isFailing: false,
  rpm: null,
  tpm: null,
  imagesPerMinute: null,
  audioSecondsPerMinute: null,
  gatewayId: null,
  onlyModels: null,
}

const known = models.find(({ id }) => id === 'openai/gpt-4o')
const priced = (pricing: Pricing | null, isFree = false): Model => {
  if (!known) throw new Error('There is no gpt-4o.')
  return { ...known, pricing, isFree }
}

/** Whether a platform connection would serve the model. */
function isServed(model: Model): boolean {
  const snapshot = toSnapshot({ models: [model], providers, connections: [connection] })
  const caller = { userId: 'user_1', accountId: 'user_1', catalog: emptyAccountCatalog }
  const context = { snapshot, caller, rotation: new PoolRotation(), open: sampleOpen }
  return findCandidates(model, context).length > 0
}

describe('M37: a model without a price is neither served nor free', () => {
  test.each<[string, Pricing | null]>([
    ['no price', null],
    ['nothing for anything', { input: 0n, output: 0n }],
    ['nothing for the prompt', { input: 0n, output: 5n }],
    ['nothing for the answer', { input: 5n, output: 0n }],
    ['a negative prompt', { input: -5n, output: 5n }],
    ['a negative bucket', { input: 5n, output: 5n, cachedInput: -1n }],
    ['a negative fee', { input: 5n, output: 5n, request: -1n }],
  ])('%s', (_what, pricing) => {
    expect(isServable(priced(pricing))).toBeFalse()
    expect(isServed(priced(pricing))).toBeFalse()
  })

  test.each<[string, Model]>([
    ['a whole price', priced({ input: 5n, output: 5n })],
    ['a fee for each request', priced({ input: 0n, output: 0n, request: 5n })],
    ['a free model', priced({ input: 0n, output: 0n }, true)],
  ])('%s is served', (_what, model) => {
    expect(isServed(model)).toBeTrue()
  })

  test('an embedding has a whole price with that of its prompt', () => {
    const pricing = { input: 5n, output: 0n }
    const ofKind = (category: Category) => isPrice(pricing, category)
    expect([ofKind('embedding'), ofKind('chat'), ofKind('completion')]).toEqual([
      true,
      false,
      false,
    ])
  })

  const row = {
    id: 'openai/gpt-4o',
    provider: 'openai',
    name: 'GPT-4o',
    upstream_model: 'gpt-4o',
    category: 'chat' as const,
    context_length: null,
    max_input_tokens: null,
    max_output_tokens: null,
    dimensions: null,
    capabilities: known?.capabilities,
    is_free: false,
    enabled: true,
    deprecated_at: null,
    created_at: at,
    updated_at: at,
  }

  test('a stored price that is negative or no number makes its row unusable', () => {
    expect(toModel({ ...row, pricing: { input: '5', output: '7' } }).pricing).toEqual({
      input: 5n,
      output: 7n,
    })
    for (const input of ['-5', '1.5', '', 'NaN', 5, null, undefined]) {
      expect(() => toModel({ ...row, pricing: { input, output: '7' } })).toThrow()
    }
  })

  test('a model with such a row is not served at the price that comes along', () => {
    const damages: string[] = []
    const damaged = { ...row, pricing: { input: '-5', output: '7' } }
    const stored = toModels(damaged, (what) => damages.push(what))
    expect(damages).toEqual(['model'])
    expect(stored).toMatchObject([{ id: row.id, pricing: null, isFree: false, enabled: false }])
    const taken = toSnapshot({ models: [...models, ...stored], providers, connections: [] })
    expect(taken.models.get(row.id)?.enabled).toBeFalse()
    expect(toModels({ ...damaged, capabilities: 7 }, () => {})).toEqual([])
  })

  test('in the bundled catalogue, only models marked as free are free', () => {
    const saysFree = new Set(
      readBuiltInCatalog().models.flatMap((one) => ('free' in one ? [one.id] : [])),
    )
    expect(saysFree.size).toBeGreaterThan(10)
    for (const { id, provider, isFree, pricing, category } of models) {
      if (isFree) expect(provider === 'sandbox' || saysFree.has(id)).toBeTrue()
      if (pricing && !isFree) expect(isPrice(pricing, category)).toBeTrue()
    }
  })

  test('a model that always searches costs the price of a search, or has no price', () => {
    const searching = models.filter(({ id }) =>
      /^(openai\/.*search-(preview|api)|perplexity\/sonar)/.test(id),
    )
    expect(searching.length).toBeGreaterThan(4)
    for (const { id, pricing } of searching) {
      expect([id, pricing === null || (pricing.request ?? 0n) > 0n]).toEqual([id, true])
    }
    const sonar = models.find(({ id }) => id === 'perplexity/sonar')
    expect(sonar?.pricing?.request).toBe(12_000_000n)
    const research = models.find(({ id }) => id === 'perplexity/sonar-deep-research')
    expect(research).toMatchObject({ pricing: null })
  })
})
