import { expect, test } from 'bun:test'
import { findNews, formatNews } from './news'
import type { Merged } from './merge'
import { compareVersions } from './packages'

const mergedOf = (id: string, fields: Partial<Merged['entry']> = {}): Merged => ({
  entry: {
    id,
    name: id,
    category: 'chat',
    input: ['text'],
    output: ['text'],
    capabilities: [],
    created: 0,
    ...fields,
  },
  priceFrom: null,
  differing: {},
  isMissing: false,
})

test('finding D10: newer sources name the flagships that the catalogue has not', () => {
  const merged = [
    mergedOf('openai/gpt-6.1-sol'),
    mergedOf('openai/gpt-6.2-sol', { price: { input: 2, output: 10 } }),
    mergedOf('together/some/new', { price: { input: 1, output: 1 } }),
    mergedOf('chutes/new'),
    mergedOf('zai/glm-6'),
  ]
  const { flagships, others } = findNews(new Set(['openai/gpt-6.1-sol']), merged)
  expect(flagships.map(formatNews)).toEqual([
    'openai/gpt-6.2-sol: 2/10',
    'zai/glm-6: without a price',
  ])
  // Providers that are not first-class are no news.
  expect(others.map(({ id }) => id)).toEqual(['together/some/new'])
})

test.each([
  ['1.110.2', '1.109.9', 1],
  ['1.108.14', '1.110.2', -2],
  ['1.6.0', '1.6.0', 0],
])('version %s compared with %s is %d', (one, other, difference) => {
  expect(compareVersions(one, other)).toBe(difference)
})
