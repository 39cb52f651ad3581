import { expect, test } from 'bun:test'
import { matchesFilter, toUsageFilter, type UsageFilter } from './usage-filter'

const all: UsageFilter = { models: null, providers: null, tags: null }

test.each<[Partial<UsageFilter>, [model: string, ...tags: string[]], boolean]>([
  [{ models: ['openai/gpt-5'] }, ['openai/gpt-5'], true],
  [{ models: ['openai/gpt-5'] }, ['openai/gpt-5-mini'], false],
  [{ models: ['openai/*', 'xai/grok-4'] }, ['openai/gpt-5-mini'], true],
  [{ models: ['openai/*', 'xai/grok-4'] }, ['xai/grok-3'], false],
  [{ models: ['together/*'] }, ['together/openai/gpt-oss'], true],
  [{ models: ['openai/*'] }, ['together/openai/gpt-oss'], false],
  [{ providers: ['openai', 'xai'] }, ['xai/grok-3'], true],
  [{ providers: ['openai'] }, ['openai-eu/gpt-5'], false],
  [{ tags: ['batch'] }, ['xai/grok-3', 'batch', 'team:search'], true],
  [{ tags: ['batch', 'team:search'] }, ['xai/grok-3', 'team:search'], false],
  [{ tags: ['batch'] }, ['xai/grok-3'], false],
  [{ models: ['xai/*'], tags: ['batch'] }, ['openai/gpt-5', 'batch'], false],
  [{ models: ['xai/*'], providers: ['xai'], tags: ['batch'] }, ['xai/grok-4', 'batch'], true],
])('the filter %j has a request of %j: %p', (filter, [model, ...tags], expected) => {
  expect(matchesFilter({ ...all, ...filter }, { model, tags: tags.length > 0 ? tags : null })).toBe(
    expected,
  )
})

test('a budget without lists has no filter', () => {
  expect(toUsageFilter(all)).toBeUndefined()
  expect(toUsageFilter({ ...all, tags: ['batch'] })).toEqual({ ...all, tags: ['batch'] })
})
