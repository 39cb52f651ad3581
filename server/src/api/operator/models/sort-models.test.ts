import { expect, test } from 'bun:test'
import { sortCatalogueModels } from './sort-models'
import type { Model } from '../../../catalog/model'

const model = (id: string, name: string, contextLength: number | null): Model => ({
  id,
  provider: 'p',
  name,
  upstreamModel: id,
  category: 'chat',
  contextLength,
  maxInputTokens: null,
  maxOutputTokens: null,
  capabilities: {
    vision: false,
    audio: false,
    tools: false,
    reasoning: false,
    streaming: true,
    json_mode: false,
    json_schema: false,
  },
  pricing: null,
  isFree: false,
  enabled: true,
  createdAt: 0,
  deprecatedAt: null,
  dimensions: null,
  simulated: false,
})

const models = [model('p/a', 'beta', 8), model('p/b', 'Alpha', null), model('p/c', 'gamma', 32)]
const ids = (...order: Parameters<typeof sortCatalogueModels>[1][]) =>
  order.map((one) =>
    sortCatalogueModels(models, one)
      .map(({ id }) => id.slice(2))
      .join(''),
  )

test('finding B18: the catalogue is sorted by name, regardless of case, and by figures, unknown ones last', () => {
  expect(ids({ sort: 'name', order: 'asc' }, { sort: 'name', order: 'desc' })).toEqual([
    'bac',
    'cab',
  ])
  const sort = 'context_length'
  expect(ids({ sort, order: 'asc' }, { sort, order: 'desc' })).toEqual(['acb', 'cab'])
})

test('without a field the newest ids are first, as in every list', () => {
  expect(ids({ order: 'asc' })).toEqual(['cba'])
})
