import { expect, test } from 'bun:test'
import { toRecordedFields, maxRecordedBytes } from './recorded-request'

const route = 'PUT /api/admin/things/:id'

test.each([
  'key',
  'api_key',
  'apiKey',
  'API-Key',
  'keys',
  'client_secret',
  'secretAccessKey',
  'password',
  'new-password',
  'credentials',
  'access_token',
  'authorization',
  'headers',
])('records of a field "%s" only that it is set', (name) => {
  const secret = 'not to be told'
  const body = { [name]: secret, inner: [{ [name]: { deep: secret } }] }
  expect(toRecordedFields(route, body)).toEqual({ [name]: '[set]', inner: [{ [name]: '[set]' }] })
})

test.each([
  ['tokens_per_minute', 100],
  ['max_output_tokens', 4096],
  ['auth', 'x-api-key'],
  ['api_key', null],
  ['secret_key_id', 'one'],
  ['monkey', 'a name'],
  ['has_password', true],
])('records a field "%s" with %p unchanged', (name, value) => {
  expect(toRecordedFields(route, { [name]: value })).toEqual({ [name]: value })
})

test('the key of a provider is its name, and only there', () => {
  const body = { key: 'my-provider', options: { key: 'not to be told' } }
  expect(toRecordedFields('POST /api/admin/providers', body)).toEqual({
    key: 'my-provider',
    options: { key: '[set]' },
  })
})

test('texts that look like secrets are removed from any field, and so are secrets of addresses', () => {
  const body = {
    reason: 'He lost sk-proj-0123456789abcdef yesterday.',
    url: 'https://me:hidden@example.com/v1?api-key=hidden&version=2#end',
  }
  expect(toRecordedFields(route, body)).toEqual({
    reason: 'He lost [secret] yesterday.',
    url: 'https://[set]@example.com/v1?api-key=[set]&version=2#end',
  })
})

test('the longest fields are cut until the rest is at most 16 KB', () => {
  const recorded = toRecordedFields(route, {
    name: 'Short',
    long: 'ä'.repeat(9000),
    longer: ['x'.repeat(20_000)],
  })
  expect(recorded).toEqual({ name: 'Short', long: '[cut]', longer: '[cut]' })
  const fields = { one: 'x'.repeat(9000), other: 'x'.repeat(8000) }
  expect(toRecordedFields(route, fields)).toEqual({ one: '[cut]', other: fields.other })
  const exact = { text: 'x'.repeat(maxRecordedBytes - '{"text":""}'.length) }
  expect(toRecordedFields(route, exact)).toEqual(exact)
  const names = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name ${index}`, 1]))
  expect(toRecordedFields(route, names)).toEqual({ '[cut]': '5000 fields' })
})
