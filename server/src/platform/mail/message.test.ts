import { expect, test } from 'bun:test'
import { toMessage } from './message'

const written = { recipient: 'ann@example.com', subject: 'Hello', body: 'Text', date: new Date(0) }

test('J06: a subject is one line, for any content', () => {
  const subject = 'Alert: a\r\nBcc: eve@example.com\u2028\u0000b'
  expect(toMessage('m', { ...written, subject }).subject).toBe('Alert: a Bcc: eve@example.com b')
})

test.each([
  'ann@example.com, eve@example.com',
  'ann@example.com\r\nBcc: eve@example.com',
  'Ann <ann@example.com>',
  'ann',
  'ann@example.com;eve@example.com',
  '"a b"@example.com',
])('J06: %p is not one address', (recipient) => {
  expect(() => toMessage('m', { ...written, recipient })).toThrow('not an e-mail address')
})

test('an address of an account is one', () => {
  expect(toMessage('m', written).recipient).toBe('ann@example.com')
})
