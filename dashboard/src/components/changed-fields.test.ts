import { expect, test } from 'bun:test'
import { changedFields, toBody } from './changed-fields'

test('an empty text is sent as null, other empty values as they are', () => {
  expect(toBody<object>({ name: '', tags: [], limit: 0, enabled: false })).toEqual({
    name: null,
    tags: [],
    limit: 0,
    enabled: false,
  })
})

test('fields that stayed as they were are not sent', () => {
  const before = { name: 'a', tags: ['x'], limit: 1, description: '' }
  expect(changedFields({ ...before, tags: ['x'] }, before)).toEqual({})
})

test('changed, emptied and added fields are sent', () => {
  const before = { name: 'a', tags: ['x'], description: 'old' }
  const fields = { name: 'a', tags: ['x', 'y'], description: '', note: 'new' }
  expect(changedFields<object>(fields, before)).toEqual({
    tags: ['x', 'y'],
    description: null,
    note: 'new',
  })
})
