import { expect, test } from 'bun:test'
import { AttemptFailed } from './attempt'
import { verdictOf } from './verdict'
import { ApiError, invalidRequest, unavailable } from '../errors'
import { nonsense, toCallerError, type Source } from '../providers/upstream-error'
import { ClientGone } from '../wire/chunk-stream'

const source: Source = {
  provider: 'fake',
  secret: null,
  textField: 'messages',
  wasSent: (field) => field === 'temperature',
  contextLength: 100,
  maxOutputTokens: 10,
}
const answered = (status: number, message = '', more = {}) =>
  toCallerError({ status, body: { error: { message, ...more } }, retryAfter: null }, source)

test.each([
  ['refused', new ApiError('connection_failed'), 'fails'],
  ['silent', new ApiError('request_timeout'), 'fails'],
  ['nonsense', nonsense('fake', 'an unreadable answer'), 'fails'],
  ['500', answered(500), 'fails'],
  ['504', answered(504), 'fails'],
  ['429', answered(429), 'fails'],
  ['529', answered(529), 'fails'],
  ['no credit left', answered(429, 'pay', { code: 'insufficient_quota' }), 'fails'],
  ['an unknown credential', answered(401), 'fails'],
  ['400', answered(400), 'nothing'],
  ['403, which may be of what was asked', answered(403), 'nothing'],
  ['404', answered(404), 'nothing'],
  ['422', answered(422), 'nothing'],
  ['a field that was refused', answered(400, '', { param: 'temperature' }), 'works'],
  ['a prompt too long', answered(400, 'maximum context length is 100 tokens'), 'works'],
  ['an error inside a 200', answered(200, 'no'), 'nothing'],
  ['a caller who left', new ClientGone(), 'nothing'],
  ['a mistake of ours', new TypeError('x'), 'nothing'],
  ['a stopping process', unavailable(), 'nothing'],
  ['our own refusal of a field', invalidRequest('n', 'out_of_range', 'n'), 'works'],
] as const)('%s', (_name, thrown, says) => {
  expect(verdictOf(thrown).says).toBe(says)
  if (!(thrown instanceof ApiError)) return
  expect(verdictOf(new AttemptFailed(thrown, false)).says).toBe(says)
})

test('how long a provider will be busy is what it says, of a refusal of all', () => {
  const busy = { status: 503, body: {}, retryAfter: '7' }
  expect(verdictOf(toCallerError(busy, source)).busyMs).toBe(7000)
  expect(verdictOf(answered(503)).busyMs).toBe(0)
})
