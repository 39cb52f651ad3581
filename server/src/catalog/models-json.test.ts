import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { loadBuiltInModels } from './built-in'
import { CatalogEntry } from './entry-schema'
import { flagships } from '../../testing/catalog/flagships'
import catalog from './models.json' with { type: 'json' }
import { isServable } from './is-priced'
import { providers } from '../providers/registry'
import { corrections, aliases } from '../../scripts/catalog/overlay'
import { packages } from '../../scripts/catalog/packages'

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
    expect(output).toBeLessThanOrEqual(context)
    for (const { above } of line.price?.tiers ?? []) expect(above).toBeLessThan(context)
  }
})

test('the sources are those that are pinned, none older than its release, and each is dated', () => {
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

test('a retired name means a listed model with a price, and is no model itself', () => {
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

test('only what the provider gives away is free', () => {
  for (const { id, isFree, pricing } of models) {
    const prices = [pricing?.input, pricing?.output]
    expect([id, isFree]).toEqual([id, prices.every((price) => price === 0n)])
  }
})
