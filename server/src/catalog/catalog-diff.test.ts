import { expect, test } from 'bun:test'
import { toModel } from './built-in'
import type { CatalogEntryRow } from './catalog-file'
import { compareCatalogs, type StoredPlans } from './catalog-diff'
import { CatalogDocument } from './entry-schema'
import type { Model } from './model'
import { providers as rows } from '../providers/registry'

const at = new Date('2026-11-23T12:00:00Z')
const providers = new Map(rows.map((provider) => [provider.key, provider]))
const openai = providers.get('openai')
if (!openai) throw new Error('no provider')

const entry = (fields: Partial<CatalogEntryRow>): CatalogEntryRow => ({
  id: 'openai/made-up',
  name: 'Made up',
  category: 'chat',
  input: ['text'],
  output: ['text'],
  capabilities: [],
  created: 1_790_000_000,
  price: { input: 1, output: 2 },
  ...fields,
})
const knownOf = (...entries: CatalogEntryRow[]) =>
  new Map(entries.map((one): [string, Model] => [one.id, toModel(one, openai, at)]))

/** What is undefined stands in no document. */
const documentOf = (models: readonly CatalogEntryRow[]) =>
  CatalogDocument.parse(JSON.parse(JSON.stringify({ date: '2026-11-23', models })))

const diff = (
  entries: readonly CatalogEntryRow[],
  models: ReadonlyMap<string, Model> = new Map(),
  plans: StoredPlans = new Map(),
) => compareCatalogs(documentOf(entries), { models, providers, plans }, at)

const later = { from: '2027-01-01', price: { input: 3, output: 4 } }
const idsIn = (list: readonly { id: string }[]) => list.map(({ id }) => id)

test('a model that stands in a document twice is added once, as it stands there first', () => {
  const { added } = diff([entry({}), entry({ price: { input: 9, output: 9 } })])
  expect(added).toMatchObject([{ id: 'openai/made-up', pricing: { input: 1_000_000_000n } }])
})

test('a model of an unknown provider, or without a complete price, is rejected', () => {
  const nothing = diff([
    entry({ id: 'nobody/made-up' }),
    entry({ price: undefined }),
    entry({ id: 'openai/half', price: { input: 1, output: 0 } }),
  ])
  expect(nothing).toMatchObject({ added: [], repriced: [], planned: [], unimported: [] })
})

test('finding D9: a prompt that is longer than its context is as long as that', () => {
  const lengths = { context_length: 1000, max_input_tokens: 2000 }
  const { added } = diff([entry(lengths)])
  expect(added).toMatchObject([{ contextLength: 1000, maxInputTokens: 1000 }])
})

test('a free model receives no price, and a model with a price is not made free', () => {
  const free = entry({ free: true, price: { input: 0, output: 0 } })
  const paid = entry({ price_changes: [later] })
  const none = { added: [], repriced: [], planned: [] }
  expect(diff([paid], knownOf(free))).toMatchObject(none)
  expect(diff([free], knownOf(paid))).toMatchObject(none)
})

test('a price that has begun is the price, and is not planned', () => {
  const begun = { from: '2026-11-23', price: { input: 5, output: 6 } }
  const found = diff([entry({ price_changes: [begun, later] })], knownOf(entry({})))
  expect(found.repriced).toMatchObject([{ after: { input: 5_000_000_000n } }])
  expect(found.planned).toMatchObject([{ from: new Date('2027-01-01T00:00:00Z') }])
})

test('an announced price is planned, unless the same price is already stored', () => {
  const announced = [entry({ price_changes: [later] })]
  const known = knownOf(entry({}))
  const [planned] = diff(announced, known).planned
  expect(planned).toMatchObject({ after: { input: 3_000_000_000n, output: 4_000_000_000n } })
  if (!planned) return
  const plan = (pricing: typeof planned.after) =>
    new Map([['openai/made-up', new Map([[planned.from.getTime(), pricing]])]])
  expect(diff(announced, known, plan(planned.after)).planned).toEqual([])
  expect(diff(announced, known, plan({ input: 1n, output: 1n })).planned).toHaveLength(1)
})

test('a price by the day of the week is not imported, nor are announcements in it', () => {
  const hours = [{ from: 0, until: 60, days: [1], input: 2 }]
  const found = diff(
    [entry({ price: { input: 1, output: 2, hours }, price_changes: [later] })],
    knownOf(entry({ price: { input: 7, output: 7 } })),
  )
  expect([idsIn(found.repriced), idsIn(found.planned), found.unimported]).toEqual([
    [],
    [],
    ['openai/made-up'],
  ])
})

test('models that a document lacks are counted of its providers alone', () => {
  const known = knownOf(entry({}), entry({ id: 'openai/other' }))
  known.set('mistral/other', { ...toModel(entry({}), openai, at), provider: 'mistral' })
  expect(diff([entry({})], known).missing).toBe(1)
})
