import { describe, expect, test } from 'bun:test'
import { nameOf, narrow, toChart, type Breakdown } from './queries'

const sums = (requests: number) => ({
  requests,
  failed_requests: 0,
  input_tokens: 2 * requests,
  output_tokens: requests,
  cost: 0,
  usage_cost: requests / 4,
  previous: null,
  change: null,
})

const group = (id: string, name: string | null = null) => ({ id, name })

describe('a chart', () => {
  const starts = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z']
  const listed = Array.from({ length: 9 }, (_, index) => index)
  const breakdown: Breakdown = {
    period: { start: starts[0] ?? '', end: '2026-11-03T00:00:00Z', time_zone: 'UTC' },
    previous_period: null,
    total: sums(50),
    groups: listed.map((index) => ({ group: group(`model ${index}`), split: null, ...sums(5) })),
    other: { groups: 3, ...sums(5) },
    intervals: starts,
    time_series: [
      ...listed.map((index) => ({ interval: 0, group: index, ...sums(4) })),
      { interval: 1, group: 8, ...sums(3) },
      { interval: 1, group: null, ...sums(2) },
    ],
  }
  const texts = {
    title: (one: Breakdown['groups'][number]) => one.group.id,
    label: (start: string) => start.slice(0, 10),
  }

  test('stacks seven groups, and all others as one', () => {
    const { series, bars } = toChart(breakdown, 'requests', texts)
    expect(series).toHaveLength(8)
    expect(series.at(-1)).toEqual({ name: 'others', label: 'All others' })
    expect(bars).toMatchObject([
      { label: '2026-11-01', group0: 4, group6: 4, others: 8 },
      { label: '2026-11-02', group0: 0, others: 5 },
    ])
  })

  test('shows spend, requests or tokens', () => {
    expect(toChart(breakdown, 'cost', texts).bars[0]).toMatchObject({ group0: 1 })
    expect(toChart(breakdown, 'tokens', texts).bars[0]).toMatchObject({ group0: 12 })
  })

  test('names no group that has nothing of the measure', () => {
    const [first, ...more] = breakdown.groups
    const free = {
      ...breakdown,
      groups: [...(first ? [{ ...first, usage_cost: 0 }] : []), ...more],
    }
    const namesOf = (measure: 'cost' | 'requests') =>
      toChart(free, measure, texts).series.map(({ name }) => name)
    expect(namesOf('cost')).not.toContain('group0')
    expect(namesOf('requests')).toContain('group0')
  })

  test('has no others where all groups are shown', () => {
    const few = { ...breakdown, groups: breakdown.groups.slice(0, 2), other: null, time_series: [] }
    expect(toChart(few, 'cost', texts).series.map(({ name }) => name)).toEqual(['group0', 'group1'])
  })
})

test.each([
  ['model', group(''), 'No model'],
  ['model', group('openai/gpt-4o'), 'openai/gpt-4o'],
  ['key', group('key_1', 'Search'), 'Search'],
  ['key', group('key_1'), 'Deleted key'],
  ['key', group('session'), 'Dashboard'],
  ['account', group('user_1', 'ada@example.com'), 'ada@example.com'],
  ['department', group(''), 'No department'],
  ['tag', group('batch, team:search'), 'batch, team:search'],
  ['tag', group(''), 'No tag'],
] as const)('a %s of %j is named %s', (dimension, one, name) => {
  expect(nameOf(dimension, one)).toBe(name)
})

test('a name leads to its requests by the next grouping; a name without a filter to nothing', () => {
  const available = ['model', 'provider', 'key'] as const
  expect(narrow('model', 'a/b', available)).toEqual({ model: 'a/b', by: 'key', split: undefined })
  expect(narrow('provider', 'a', available)).toEqual({
    provider: 'a',
    by: 'model',
    split: undefined,
  })
  expect(narrow('model', '', available)).toBeUndefined()
  expect(narrow('department', 'Research', available)).toBeUndefined()
})
