import { expect, test } from 'bun:test'
import { searchesIn } from './searches'
import type { JsonObject } from '../../wire/json-body'

const search = { type: 'web_search_call', status: 'completed', action: { type: 'search' } }
const output = [
  search,
  { ...search, action: { type: 'open_page', url: 'https://example.com' } },
  { ...search, action: { type: 'find_in_page', url: 'https://example.com', pattern: 'a' } },
  { ...search, status: 'failed' },
  { type: 'web_search_call', status: 'completed' },
  { type: 'message', content: [] },
]

const rows: [string, JsonObject, number][] = [
  ['as it counts them', { output, tool_usage: { web_search: { num_requests: 7 } } }, 7],
  ['none, as it counts them', { output, tool_usage: { web_search: { num_requests: 0 } } }, 0],
  ['by its items: searches, not pages and not failures', { output }, 2],
  ['by its items, beside another count', { output, tool_usage: { image_gen: {} } }, 2],
  [
    'by its items, beside an invalid count',
    { output, tool_usage: { web_search: { num_requests: -1 } } },
    2,
  ],
  [
    'by its items, beside an absurd count',
    { output, tool_usage: { web_search: { num_requests: 1e300 } } },
    2,
  ],
  ['none without any', { output: [] }, 0],
  ['none where nothing is readable', { output: 'x', tool_usage: [] }, 0],
]

test.each(rows)('the searches of a Response are %s', (_how, response, count) => {
  expect(searchesIn(response)).toBe(count)
})

test('the streamed text counts if the last event has no usage', () => {
  expect(searchesIn({ output: [] }, 3)).toBe(3)
  expect(searchesIn({ output: [], tool_usage: { web_search: { num_requests: 1 } } }, 3)).toBe(1)
})
