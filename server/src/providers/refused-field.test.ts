import { expect, test } from 'bun:test'
import { sampleSource } from '../../testing/providers/samples'
import { toCallerError } from './upstream-error'

const secret = 'sk-live-0123456789abcdef'
const source = {
  ...sampleSource,
  secret,
  maxOutputTokens: 4096,
  wasSent: (field: string) => ['messages', 'tools', 'max_tokens'].includes(field),
}
const refused = (fields: object) =>
  toCallerError({ status: 400, body: { error: { message: 'No.', ...fields } } }, source)

test.each([
  ['tools[0].function.name', 'tools[0].function.name'],
  ['tools.0.input_schema.$defs', 'tools.0.input_schema.$defs'],
  ['messages.é\n', 'messages'],
  [`messages.${'x'.repeat(10_000)}`, 'messages'],
  [`messages.${secret}`, 'messages.[secret]'],
  [`messages ${secret}`, null],
  [secret, null],
])(
  'the field that a provider names is short, and in the characters of one: %#',
  (param, expected) => {
    expect(refused({ param }).param).toBe(expected)
  },
)

test('does not report a limit without a number of tokens', () => {
  const message = `max_tokens is too large: ${'9'.repeat(400)}. It supports at most 1e9999 tokens.`
  expect(refused({ message, param: 'max_tokens' })).toMatchObject({
    code: 'max_tokens_exceeded',
    details: { max_allowed: 4096, requested: null },
  })
})
