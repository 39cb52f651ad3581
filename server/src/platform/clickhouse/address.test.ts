import { expect, test } from 'bun:test'
import { isClickHouseUrl, parseClickHouseUrl } from './address'

test('an address has a user, a password and a database, each with the default of the server', () => {
  expect(parseClickHouseUrl('https://me:p%40ss@host:8443/logs')).toEqual({
    origin: 'https://host:8443',
    user: 'me',
    password: 'p@ss',
    database: 'logs',
  })
  expect(parseClickHouseUrl('http://host:8123')).toEqual({
    origin: 'http://host:8123',
    user: 'default',
    password: '',
    database: 'default',
  })
})

test.each([
  'http://host/a/b',
  'http://host/a%3Bb',
  'http://host/logs?database=other',
  'http://host/logs#x',
  'http://me:%E0%A4%A@host/logs',
  'http://me:%0d%0aX:1@host/logs',
  'http://me:%C3%BC@host/logs',
])('%s is not an address', (url) => {
  expect(isClickHouseUrl(url)).toBe(false)
})
