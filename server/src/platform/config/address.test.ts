import { expect, test } from 'bun:test'
import { formatHostAndPort, toReachableHost, getLocalUrl } from './address'

test.each([
  ['127.0.0.1', 'http://localhost:8080'],
  ['0.0.0.0', 'http://localhost:8080'],
  ['::', 'http://localhost:8080'],
  // "localhost" leads to 127.0.0.1 first, where nothing listens.
  ['::1', 'http://[::1]:8080'],
  ['fd00::7', 'http://[fd00::7]:8080'],
  ['gateway.example', 'http://gateway.example:8080'],
])('N6: a server bound to %s is at %s', (host, url) => {
  expect(getLocalUrl(host, 8080)).toBe(url)
  expect(URL.canParse(url)).toBeTrue()
})

test('N6: an address that stands for all of them is reached by the loopback one', () => {
  expect(['', '0.0.0.0', '::', '::1', '10.0.0.7'].map(toReachableHost)).toEqual([
    '127.0.0.1',
    '127.0.0.1',
    '127.0.0.1',
    '::1',
    '10.0.0.7',
  ])
  expect(formatHostAndPort('::1', 80)).toBe('[::1]:80')
})
