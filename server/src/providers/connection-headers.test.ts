import { expect, test } from 'bun:test'
import { isReservedHeader, toConnectionHeaders } from './connection-headers'

test.each([
  'host',
  'authorization',
  'cookie',
  'content-length',
  'transfer-encoding',
  'connection',
  'proxy-authorization',
  'x-tollgate-hops',
])('a stored header %s is never sent', (name) => {
  expect(isReservedHeader(name)).toBe(true)
  expect(toConnectionHeaders({ [name]: 'x', 'x-team': 'a' })).toEqual({ 'x-team': 'a' })
  expect(toConnectionHeaders({ [name]: 'x' })).toBeNull()
})

test('a connection without headers has none', () => {
  expect(toConnectionHeaders()).toBeNull()
})
