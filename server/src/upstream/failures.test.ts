import { expect, test } from 'bun:test'
import { AttemptFailed } from './attempt-failed'
import { Deadline, ProviderSilence } from './deadline'
import { exchange } from './exchange'
import { LargeEvents } from './large-events'
import { RelayProtocol } from './protocol/relay'
import { LocalAnswer } from './http/answer'
import { ConnectionFailed } from './http/connection-failed'
import { Egress } from './http/egress'
import { GatewayLost } from './http/gateway-call'
import { ApiError } from '../errors'
import { Credentials } from '../providers/credentials'
import { classifyFailure, readConnectionRefusal } from '../routing/classify-failure'
import { sampleConnection, sampleProvider } from '../../testing/catalog/samples'
import { sampleCandidate } from '../../testing/routing/candidate'

/** A provider's answer, or the error that its connection ends with. */
type Outcome = { status: number; error?: Record<string, unknown>; retryAfter?: string } | Error

const provider = sampleProvider({ name: 'fake' })
const neverSent = () => Promise.reject(new Error('no other host is called'))
const credentials = new Credentials({
  send: neverSent,
  now: () => 0,
  deadline: () => AbortSignal.abort(),
})

const toAnswer = ({ status, error = {}, retryAfter }: Exclude<Outcome, Error>) =>
  new LocalAnswer(
    Response.json(
      { error: { message: 'No.', ...error } },
      { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } },
    ),
  )

/** Sends one attempt that ends with an outcome. Returns its failure. */
async function failWith(outcome: Outcome): Promise<AttemptFailed> {
  const send = async () => {
    if (outcome instanceof Error) throw outcome
    return toAnswer(outcome)
  }
  using deadline = new Deadline({ totalMs: 25_000 })
  const ports = {
    egress: new Egress({ connectMs: 20_000 }, { guarded: { send } }),
    gateways: { send: neverSent },
    credentials,
    loopShares: { shareOf: () => ({ spend: () => undefined, note: () => undefined }) },
    largeEvents: new LargeEvents(),
  }
  const connection = sampleConnection({ owner: 'acc_1', baseUrl: 'https://one.example/v1' })
  const attempt = {
    candidate: sampleCandidate({ provider, connection }),
    request: { ports, principal: { accountId: 'acc_2' }, call: { hops: 0 } },
    protocol: new RelayProtocol({
      request: { operation: 'chat', body: { model: 'm', messages: [] } },
      source: {
        provider: provider.name,
        secret: null,
        textField: 'messages',
        wasSent: () => false,
        contextLength: null,
        maxOutputTokens: null,
      },
    }),
    deadline,
  }
  const failed: unknown = await exchange(attempt, { read: (answer) => answer }).catch(
    (thrown) => thrown,
  )
  if (!(failed instanceof AttemptFailed)) throw failed
  return failed
}

/** How the breakers of the route count it. */
const breakerOf = (failed: AttemptFailed): string => {
  const verdict = classifyFailure(failed)
  if (typeof verdict === 'string') return verdict
  const { busyMs, isShared, maxOpenMs } = verdict
  const scope = isShared ? 'fails' : 'fails for the account'
  const seconds = busyMs > 0 ? ` ${busyMs / 1000} s` : ''
  return `${scope}${seconds}${maxOpenMs === undefined ? '' : ', unpaid'}`
}

/**
 * Describes how Tollgate treats a failure: the error for the caller and whether it is retryable, whether the next
 * candidate is tried, what the breakers count, and whether the connection is shown as unhealthy.
 */
async function treatmentOf(outcome: Outcome): Promise<string> {
  const failed = await failWith(outcome)
  const { code, status, retryable } = failed.error
  return [
    `${code} ${status}`,
    retryable && 'retryable',
    failed.mayTryNext && 'next',
    breakerOf(failed),
    readConnectionRefusal(failed) !== undefined && 'unhealthy',
  ]
    .filter((part) => part !== false)
    .join(', ')
}

const rejected = 'invalid_request 400, works'
const unknown = 'provider_error 502, nothing'
const busy = 'provider_error 503, retryable, next, fails'
const broken = 'provider_error 502, retryable, next, fails'
const unpaid = 'provider_error 502, next, fails 300 s, unpaid, unhealthy'

test.each([
  [400, rejected],
  [401, 'provider_error 502, next, fails, unhealthy'],
  [402, unpaid],
  [403, 'provider_error 502, next, nothing, unhealthy'],
  [404, 'provider_error 502, next, nothing'],
  [405, unknown],
  [408, unknown],
  [409, unknown],
  [410, unknown],
  [413, rejected],
  [415, unknown],
  [418, unknown],
  [422, rejected],
  [424, unknown],
  [425, unknown],
  [429, busy],
  [451, unknown],
  [498, unknown],
  [499, unknown],
  [500, broken],
  [501, broken],
  [502, broken],
  [503, busy],
  [504, broken],
  [520, broken],
  [524, broken],
  [529, busy],
])('a refusal with status %d: %s', async (status, treatment) => {
  expect(await treatmentOf({ status })).toBe(treatment)
})

test.each([
  [400, rejected],
  [401, 'provider_error 502, fails, unhealthy'],
  [402, 'provider_error 502, fails 300 s, unpaid, unhealthy'],
  [403, 'provider_error 502, nothing, unhealthy'],
  [404, unknown],
  [408, unknown],
  [422, rejected],
  [429, busy],
  [500, 'provider_error 502, retryable, fails'],
  [503, busy],
  [529, busy],
])('a refusal inside a 200 that names status %d: %s', async (code, treatment) => {
  expect(await treatmentOf({ status: 200, error: { code } })).toBe(treatment)
})

const noCredit = { code: 'insufficient_quota' }

test.each([
  [200, 'provider_error 502, fails 300 s, unpaid, unhealthy'],
  [400, unpaid],
  [401, unpaid],
  [403, unpaid],
  [404, unpaid],
  [408, 'provider_error 502, fails 300 s, unpaid, unhealthy'],
  [429, unpaid],
  [500, unpaid],
  [503, unpaid],
])('an account without credit, with status %d: %s', async (status, treatment) => {
  expect(await treatmentOf({ status, error: noCredit })).toBe(treatment)
})

test.each([
  [200, unknown],
  [400, rejected],
  [413, rejected],
  [429, 'provider_error 503, next, nothing'],
  [500, broken],
  [503, 'provider_error 503, next, fails'],
])('a request that is too large by itself, with status %d: %s', async (status, treatment) => {
  const message = 'Request too large: the input must be reduced.'
  expect(await treatmentOf({ status, error: { message } })).toBe(treatment)
})

test('a request that is too large by itself, as its provider says late: the breakers count nothing', async () => {
  const message = `${'Tokens per minute. '.repeat(20)}The input must be reduced.`
  const treatment = 'provider_error 503, next, nothing'
  expect(await treatmentOf({ status: 429, error: { message } })).toBe(treatment)
})

test.each([
  [200, 'provider_error 502, retryable, nothing'],
  [400, 'provider_error 502, retryable, nothing'],
  [500, broken],
])('a call that its provider could not read, with status %d: %s', async (status, treatment) => {
  expect(await treatmentOf({ status, error: { code: 'tool_use_failed' } })).toBe(treatment)
})

test.each([
  [408, unknown],
  [429, `${busy} 7 s`],
  [500, broken],
  [503, `${busy} 7 s`],
  [529, `${busy} 7 s`],
])('an announced wait, with status %d: %s', async (status, treatment) => {
  expect(await treatmentOf({ status, retryAfter: '7' })).toBe(treatment)
})

test.each([
  [400, 'Incorrect API key provided.', 'provider_error 502, next, fails, unhealthy'],
  [400, 'Model Not Exist', 'provider_error 502, next, nothing'],
  [403, 'blocked by our content filter', rejected],
  [400, 'maximum context length is 9', 'context_length_exceeded 400, works'],
  [500, 'maximum context length is 9', 'context_length_exceeded 400, works'],
  [200, 'No.', unknown],
  [200, 'Overloaded', busy],
  [200, 'At capacity: it must be reduced.', 'provider_error 503, next, fails'],
])('a refusal with status %d and the words "%s": %s', async (status, message, treatment) => {
  expect(await treatmentOf({ status, error: { message } })).toBe(treatment)
})

test('a refusal inside a 200 with the type of a rejection: invalid_request', async () => {
  const error = { type: 'invalid_request_error' }
  expect(await treatmentOf({ status: 200, error })).toBe(rejected)
})

const timeout = 'request_timeout 504, retryable'
const silence = new ApiError('request_timeout', { cause: new ProviderSilence() })

test.each([
  [
    'no connection',
    'connection_failed 502, retryable, next, fails',
    new ConnectionFailed(false, ''),
  ],
  ['a lost connection', 'connection_failed 502, fails', new ConnectionFailed(true, '')],
  ['no gateway', 'connection_failed 502, retryable, next, nothing', new GatewayLost(false, '')],
  ['a lost gateway', 'connection_failed 502, nothing', new GatewayLost(true, '')],
  ['a timeout', `${timeout}, fails for the account`, new ApiError('request_timeout')],
  ['a silent provider', `${timeout}, fails`, silence],
])('%s: %s', async (_name, treatment, outcome) => {
  expect(await treatmentOf(outcome)).toBe(treatment)
})
