import { expect, test } from 'bun:test'
import { AttemptFailed } from '../upstream/attempt-failed'
import { classifyFailure } from './classify-failure'
import { ApiError, invalidRequest, unavailable } from '../errors'
import { invalidAnswer, toCallerError, type ErrorSource } from '../providers/upstream-error'
import { ProviderSilence } from '../upstream/deadline'
import { ClientDisconnected } from '../wire/chunk-stream'

const source: ErrorSource = {
  provider: 'fake',
  secret: null,
  textField: 'messages',
  wasSent: (field) => field === 'temperature',
  contextLength: 100,
  maxOutputTokens: 10,
}
const answered = (status: number, message = '', more = {}) =>
  toCallerError({ status, body: { error: { message, ...more } }, retryAfter: null }, source)

const shared = { busyMs: 0, isShared: true }
const unpaid = { busyMs: 300_000, isShared: true, maxOpenMs: 300_000 }
const ofAccount = { busyMs: 0, isShared: false }
const silent = new ApiError('request_timeout', { cause: new ProviderSilence() })
const noCredit = 'Your credit balance is too low to access the Anthropic API.'
const tooLarge =
  'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.'

test.each([
  ['refused', new ApiError('connection_failed'), shared],
  ['an empty stream', silent, shared],
  ['S1: a request that takes too long as a whole', new ApiError('request_timeout'), ofAccount],
  ['nonsense', invalidAnswer('fake', 'an unreadable response'), shared],
  ['500', answered(500), shared],
  ['504', answered(504), shared],
  ['429', answered(429), shared],
  ['S1: 429 for what is too large by itself', answered(429, tooLarge), 'nothing'],
  ['529', answered(529), shared],
  [
    'finding V1: no credit left, with 429',
    answered(429, 'pay', { code: 'insufficient_quota' }),
    unpaid,
  ],
  ['finding V1: no credit left, with 402', answered(402, 'Insufficient Balance'), unpaid],
  ['finding V1: no credit left, with 402 and no words', answered(402), unpaid],
  ['finding V1: no credit left, with 400', answered(400, noCredit), unpaid],
  [
    'finding V1: no credit left, with 403',
    answered(403, 'Your team has used all available credits'),
    unpaid,
  ],
  ['finding V1: no credit left, with 401', answered(401, 'Insufficient balance'), unpaid],
  ['an unknown credential', answered(401), shared],
  ['finding P9: 400', answered(400), 'works'],
  ['403, which may be of what was asked', answered(403), 'nothing'],
  ['404', answered(404), 'nothing'],
  ['finding P9: 413', answered(413), 'works'],
  ['finding P9: 422', answered(422), 'works'],
  ['a key that is rejected with 400', answered(400, 'Incorrect API key provided.'), shared],
  ['a missing model, with 400', answered(400, 'Model Not Exist'), 'nothing'],
  ['a field that was rejected', answered(400, '', { param: 'temperature' }), 'works'],
  ['a prompt too long', answered(400, 'maximum context length is 100 tokens'), 'works'],
  ['an error inside a 200', answered(200, 'no'), 'nothing'],
  ['a caller who left', new ClientDisconnected(), 'nothing'],
  ['a mistake of ours', new TypeError('x'), 'nothing'],
  ['a stopping process', unavailable(), 'nothing'],
  ['our own refusal of a field', invalidRequest('n', 'out_of_range', 'n'), 'works'],
] as const)('%s', (_name, thrown, verdict) => {
  expect(classifyFailure(thrown)).toEqual(verdict)
  if (!(thrown instanceof ApiError)) return
  expect(classifyFailure(new AttemptFailed(thrown, false))).toEqual(verdict)
})

test('the wait time of a provider is the one it reports, for all refusals', () => {
  const busy = { status: 503, body: {}, retryAfter: '7' }
  expect(classifyFailure(toCallerError(busy, source))).toEqual({ busyMs: 7000, isShared: true })
  expect(classifyFailure(answered(503))).toEqual(shared)
})
