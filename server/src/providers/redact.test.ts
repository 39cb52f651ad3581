import { expect, test } from 'bun:test'
import { redact, scrub } from './redact'
import { recordTimeFigure } from '../../testing/figures'

const secret = 'sk-live-0123456789abcdef'

test.each([
  [`bad key ${secret}.`, 'bad key [secret].'],
  ['Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.abc', 'Authorization: [secret]'],
  ['see https://internal.acme.test/a?k=1 for more', 'see [address] for more'],
  ['dial tcp 10.0.3.7:8443: refused', 'dial tcp [address]: refused'],
  ['dial tcp [fd00::7]:8443: refused', 'dial tcp [address]: refused'],
  ['from fe80::1%eth0 to ::1, 2001:db8:0:0:0:0:0:1', 'from [address] to [address], [address]'],
  ['std::vector at 12:30:45, a:b:c', 'std::vector at 12:30:45, a:b:c'],
  ['<html><h1>Bad gateway</h1></html>', 'Bad gateway'],
  ['<!DOCTYPE html><p class="a">No</p>', 'No'],
  ['<400> InternalError.Algo: No.', 'InternalError.Algo: No.'],
  [
    'must be <= 8193. Given: 5 > 3, a < b and c > d',
    'must be <= 8193. Given: 5 > 3, a < b and c > d',
  ],
  ['a\r\nset-cookie: x\u{0}b', 'a set-cookie: x b'],
])('%j is scrubbed', (text, clean) => {
  expect(scrub(text, { secret })).toBe(clean)
})

/** As OpenAI, DeepSeek, xAI, Anthropic, Google, AWS and others repeat a key that they do not know. */
test.each([
  ['Incorrect API key provided: sk-proj-abcdefgh12345678', 'Incorrect API key provided: [secret]'],
  [
    'Incorrect API key provided: sk-ab***yz. You can find your API key at https://platform.openai.com/account/api-keys.',
    'Incorrect API key provided: [secret]. You can find your API key at [address]',
  ],
  [
    'Incorrect API key provided: sk-XG6GW***************************************wlmi.',
    'Incorrect API key provided: [secret].',
  ],
  ['Incorrect API key provided: sk-proj-...sQoA. You', 'Incorrect API key provided: [secret]. You'],
  ['Incorrect API key provided: sk-svcac...JtAA', 'Incorrect API key provided: [secret]'],
  ['Incorrect API key provided: xa***H4. You can', 'Incorrect API key provided: [secret]. You can'],
  [
    'Authentication Fails, Your api key: ****cdef is invalid',
    'Authentication Fails, Your api key: [secret] is invalid',
  ],
  ['API key not valid: AIzaSyA0123456789abcdef', 'API key not valid: [secret]'],
  ['invalid x-api-key sk-ant-api03-AbCdEf', 'invalid x-api-key [secret]'],
  ['Invalid key gsk_a1b2c3d4e5f6', 'Invalid key [secret]'],
  ['Credential=AKIAIOSFODNN7EXAMPLE/20260101', 'Credential=[secret]/20260101'],
  ['token ya29.a0AfH6SMB_xyz expired', 'token [secret] expired'],
  ['pplx-0a1b2c3d4e refused', '[secret] refused'],
  ['The key nvapi-Abc_123-xyz is wrong', 'The key [secret] is wrong'],
  ['key-0123456789 has no credit', '[secret] has no credit'],
  ['api_key=0a1b2c3d4e5f', 'api_key=[secret]'],
  ['limit for organization org-AbC123dEf456 reached', 'limit for organization [account] reached'],
])('finding P8: no part of a key in %j is returned', (text, clean) => {
  expect(scrub(text, { secret: null })).toBe(clean)
})

test.each([
  'Keys begin with sk- or pk_.',
  'The API key is invalid.',
  'API key not valid. Please pass a valid API key.',
  'key_not_found: a task-oriented pa-rameter, and a well-known team-leader',
  '2 * 3 * 4 and **bold**',
  'Please wait... and try again',
])('%j has no key in it', (text) => {
  expect(scrub(text, { secret: null })).toBe(text)
})

test('values of a connection’s headers leave in no text; short ones are words like any other', () => {
  const headers = { 'x-access': 'swordfish-of-a-team', 'x-stage': 'test' }
  const text = 'The test of swordfish-of-a-team failed.'
  expect(scrub(text, { secret: null, headers })).toBe('The test of [secret] failed.')
})

test('300 characters at most leave, and four times as many are read', () => {
  const text = 'long '.repeat(1000)
  expect(scrub(text, { secret: null }).length).toBeLessThanOrEqual(300)
  expect(redact(text, { secret: null }).length).toBeLessThanOrEqual(1200)
})

test('a text made to be slow to read is not', async () => {
  for (const piece of ['sk-', '<a', 'api key is ', 'eyJa.', '*'.repeat(2), '1:', 'a.b-']) {
    const name = `a text of 100,000 times ${piece}`
    const text = await recordTimeFigure(name, { atMost: 200 }, async () =>
      redact(piece.repeat(100_000), { secret: null }),
    )
    expect(text.length).toBeLessThanOrEqual(1200)
  }
})
