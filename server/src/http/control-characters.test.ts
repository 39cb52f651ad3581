import { expect, test } from 'bun:test'
import { refuseControlCharacters } from './control-characters'
import { ApiError } from '../errors'

function statusOf(text: string): number {
  try {
    refuseControlCharacters(text)
    return 200
  } catch (thrown) {
    return thrown instanceof ApiError ? thrown.status : 500
  }
}

test.each([
  { name: 'a\0b' },
  { email: 'a\0@example.com' },
  { name: 'a\nb' },
  { 'na\0me': 'a' },
  { password: 'long enough \0 password' },
  { newPassword: '\0' },
  { metadata: [{ deep: [['\u0007']] }] },
  ['\0'],
  '\0',
])('S9: %j is 400', (body) => {
  expect(statusOf(JSON.stringify(body))).toBe(400)
})

test.each([
  {},
  null,
  { name: 'Ada', email: 'a@example.com', rememberMe: true, list: [1, null] },
  { password: 'a\tb\u0001c', currentPassword: '\n' },
])('S9: %j passes', (body) => {
  expect(statusOf(JSON.stringify(body))).toBe(200)
})

test('S9: rejects an invalid JSON body only for a NUL', () => {
  expect(statusOf('{"name": ')).toBe(200)
  expect(statusOf('name=a\nb')).toBe(200)
  expect(statusOf('name=a%00b')).toBe(400)
  expect(statusOf('name=a\0b')).toBe(400)
})

test('S9: nesting costs no stack', () => {
  expect(statusOf(`${'['.repeat(30_000)}"\\u0000"${']'.repeat(30_000)}`)).toBe(400)
})
