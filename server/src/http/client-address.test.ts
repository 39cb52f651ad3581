import { expect, test } from 'bun:test'
import { createClientAddress } from './client-address'

const clientOf = createClientAddress(['10.0.0.0/8', '192.0.2.1', 'fd00::/8'])

test.each([
  ['a peer other than a proxy is not trusted', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy names its peer', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  [
    'entries that the client wrote do not count',
    '10.1.2.3',
    '1.1.1.1, 198.51.100.1',
    '198.51.100.1',
  ],
  ['one proxy behind another', '10.1.2.3', '198.51.100.1, 192.0.2.1', '198.51.100.1'],
  ['proxies alone', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
  ['a proxy without an entry', '10.1.2.3', null, '10.1.2.3'],
  ['a proxy that says nonsense', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
  ['IPv6', 'fd00::1', '2001:db8::7', '2001:db8::7'],
  ['IPv4 by an IPv6 socket', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['if the address is unknown', '', '198.51.100.1', ''],
])('%s', (_name, ...[peer, forwarded, expected]) => {
  expect(clientOf(peer, forwarded)).toBe(expected)
})

test('the last entries of a long list count', () => {
  const hands = Array.from({ length: 5000 }, () => '10.0.0.1').join(',')
  expect(clientOf('10.1.2.3', `198.51.100.1,${hands}`)).toBe('10.0.0.1')
})

test('without proxies the other end of the connection counts', () => {
  expect(createClientAddress([])('10.1.2.3', '198.51.100.1')).toBe('10.1.2.3')
})
