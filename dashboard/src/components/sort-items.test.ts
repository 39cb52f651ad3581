import { expect, test } from 'bun:test'
import { sortItems } from './sort-items'

const items = [
  { name: 'beta', used: 2 },
  { name: 'Alpha', used: null },
  { name: 'gamma', used: 1 },
]
const values = {
  name: ({ name }: (typeof items)[number]) => name,
  used: ({ used }: (typeof items)[number]) => used,
}
const namesBy = (by: 'name' | 'used', isDescending: boolean) =>
  sortItems(items, values, { by, isDescending }).map(({ name }) => name)

test('finding B18: a list is sorted by name, regardless of case, and by figures, unknown ones last', () => {
  expect(namesBy('name', false)).toEqual(['Alpha', 'beta', 'gamma'])
  expect(namesBy('name', true)).toEqual(['gamma', 'beta', 'Alpha'])
  expect(namesBy('used', false)).toEqual(['gamma', 'beta', 'Alpha'])
  expect(namesBy('used', true)).toEqual(['beta', 'gamma', 'Alpha'])
})
