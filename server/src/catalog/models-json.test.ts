import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { loadBuiltInModels, readBuiltInCatalog } from './built-in'
import { CatalogEntry } from './entry-schema'
import { flagships } from '../../testing/catalog/flagships'
import { isServable } from './is-priced'
import { providers } from '../providers/registry'
import { responsesModels } from '../providers/responses/models'
import { getResponsesFlags } from '../providers/responses/needs-responses'
import { corrections, aliases } from '../../scripts/catalog/overlay'
import { packages } from '../../scripts/catalog/packages'

const catalog = readBuiltInCatalog()
const models = loadBuiltInModels(providers, new Date(`${catalog.date} 12:00Z`))

const day = z.iso.date()

test('every line of models.json can be read, named once and in order', () => {
  for (const line of catalog.models) CatalogEntry.parse(line)
  const ids = catalog.models.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)))
})

test('no line claims more output than its context holds, or a tier that no prompt comes to', () => {
  for (const line of catalog.models.map((one) => CatalogEntry.parse(one))) {
    const { context_length: context = Infinity, max_output_tokens: output = 0 } = line
    const { max_input_tokens: prompt = context } = line
    expect(output).toBeLessThanOrEqual(context)
    expect(prompt).toBeLessThanOrEqual(context)
    for (const { above } of line.price?.tiers ?? []) expect(above).toBeLessThan(prompt)
  }
})

test('the sources are the pinned ones, none older than its release, and each is dated', () => {
  expect(catalog.sources).toEqual(
    packages.map(({ name, version, published, license }) => ({
      name,
      version,
      published,
      license,
    })),
  )
  for (const { published, license } of catalog.sources) {
    day.parse(published)
    expect(published <= catalog.date).toBeTrue()
    expect(license).toBe('MIT')
  }
})

test('every correction names its source and its day, and changes something', () => {
  for (const one of corrections) {
    day.parse(one.date)
    expect(one.source).toStartWith('https://')
    expect(one.why.length).toBeGreaterThan(5)
    const { date: _date, source: _source, why: _why, models: ids, ...changes } = one
    expect(Object.keys(changes).length).toBeGreaterThan(0)
    expect(ids.length).toBeGreaterThan(0)
  }
})

test('a retired name means a listed model with a price, and is not a model itself', () => {
  expect<Record<string, string>>(catalog.aliases).toEqual(
    Object.fromEntries(aliases.map(({ alias, model }) => [alias, model])),
  )
  for (const [alias, model] of Object.entries(catalog.aliases)) {
    expect(models.find(({ id }) => id === model)?.pricing).toBeTruthy()
    expect(models.some(({ id }) => id === alias)).toBeFalse()
  }
})

describe('finding P2: the key of a first-class provider alone gives models with a price', () => {
  test.each(flagships)('$id', ({ id }) => {
    const model = models.find((one) => one.id === id)
    expect(model).toMatchObject({ id, enabled: true })
    expect(model && isServable(model)).toBeTrue()
  })

  const firstClass = new Set(flagships.map(({ id }) => id.slice(0, id.indexOf('/'))))
  // The overlay says of each of these why it has none.
  const unpriced = new Set(corrections.flatMap((one) => (one.unpriced ? one.models : [])))

  test.each([...firstClass])('every listed model of %s has a price', (provider) => {
    const own = models.filter((model) => model.provider === provider)
    expect(own.length).toBeGreaterThan(1)
    const without = own.filter((model) => !isServable(model)).map(({ id }) => id)
    expect(without.filter((id) => !unpriced.has(id))).toEqual([])
  })
})

test.each([
  'bedrock/cohere.embed-v4:0',
  'bedrock/cohere.embed-english-v3',
  'bedrock/cohere.embed-multilingual-v3',
  'bedrock/amazon.nova-2-multimodal-embeddings-v1:0',
  'openrouter/openai/text-embedding-3-small',
  'openrouter/perplexity/sonar',
  'openai/gpt-5-pro',
  'openai/gpt-5.2-pro',
  'openai/gpt-5.4-pro',
  'openai/o3-pro',
  'openai/o1-pro',
  'openai/gpt-5.3-codex',
  'openai/gpt-6-cyber',
  'google/gemini-4-carbon',
  'mistral/magistral-small-latest',
  'zai/glm-4.6v',
])('finding D10: %s is listed with a price', (id) => {
  const model = models.find((one) => one.id === id)
  expect(model && isServable(model)).toBeTrue()
})

test.each(['anthropic/claude-mythos-5-2', 'zai/glm-5.3-highspeed'])(
  'finding D10: %s is listed, though its price is not known',
  (id) => {
    expect(models.find((one) => one.id === id)).toMatchObject({ pricing: null, isFree: false })
  },
)

test.each([
  ['openai/gpt-6.2-sol', 2, 10, 0.1],
  ['openai/gpt-6.2-astra', 8, 40, 0.4],
  ['google/gemini-4-neon', 3, 15, 0.15],
  ['google/gemini-4-hydrogen', 1.5, 7.5, 0.075],
])('finding D10: %s costs %d and %d, cached %d', (id, ...rates) => {
  const { price } = catalog.models.find((one) => one.id === id) ?? {}
  const listed: unknown[] = [price?.input, price?.output, price?.cached_input]
  expect(listed).toEqual(rates)
})

test('finding D10: GPT-6.2 Sol costs more above 272,000 tokens', () => {
  const { price } = catalog.models.find((one) => one.id === 'openai/gpt-6.2-sol') ?? {}
  expect(price?.tiers?.[0]).toMatchObject({ above: 272_000, input: 4, output: 15 })
})

test('finding D10: chats for models of OpenAI that take Responses alone are sent as such', () => {
  const named = /^(openai|azure)\/(o\d-pro|gpt-[\d.]+-(pro|codex))/
  const alone = models.filter(({ id }) => named.test(id))
  expect(alone.length).toBeGreaterThan(8)
  for (const { upstreamModel } of alone)
    expect(getResponsesFlags(responsesModels, upstreamModel)?.responsesOnly).toBeTrue()
})

test('only models that the provider gives away are free', () => {
  for (const { id, isFree, pricing } of models) {
    const { search = 0n, inputCharacters = 0n, audioHour = 0n, madeImage = 0n } = pricing ?? {}
    const prices = [pricing?.input, pricing?.output, search, inputCharacters, audioHour, madeImage]
    expect([id, isFree]).toEqual([id, prices.every((price) => price === 0n)])
  }
})
