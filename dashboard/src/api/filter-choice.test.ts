import { expect, test } from 'bun:test'
import { ApiError } from './client'
import { filterChoice } from './filter-choice'

const names = { newest: 'Newest first', lowest: 'Lowest first' }

test('a filter is one of the known names, or absent', () => {
  expect(filterChoice('sort', 'lowest', names)).toBe('lowest')
  expect(filterChoice('sort', undefined, names)).toBeUndefined()
})

test.each(['cheapest', '', 'toString'])(
  'the filter "%s" is rejected with the known names',
  (text) => {
    const check = () => filterChoice('sort', text, names)
    expect(check).toThrow(ApiError)
    expect(check).toThrow('sort: must be one of newest, lowest.')
  },
)
