import { beforeEach, expect, test } from 'bun:test'
import { ApiError, invalidRequest } from '../errors'
import { ConnectionRates } from '../limits/connection-rates'
import { MemoryCounters } from '../limits/memory-counters'
import type { Candidate } from '../routing/candidate'
import { Resilience } from '../routing/resilience'
import { maxSaved } from '../routing/retry-budget'
import { AttemptFailed } from '../upstream/attempt-failed'
import { sampleConnection, sampleModel } from '../../testing/catalog/samples'
import { FailoverBooks, createFailoverFixture } from '../../testing/gateway/failover'
import { sampleCandidate } from '../../testing/routing/candidate'

const credit = 1_000_000_000n
const pricing = { input: 1_000_000n, output: 1_000_000n }

/** A candidate whose connection has its own payer, so that each can be without credit. */
const candidateOf = (id: string, rpm: number | null = null): Candidate =>
  sampleCandidate({
    connection: sampleConnection({ id, rpm }),
    model: sampleModel({ pricing }),
    billing: { mode: 'platform', payer: `payer_${id}`, organizationId: null },
  })

const failed = (message: string, mayTryNext: boolean) =>
  new AttemptFailed(new ApiError('connection_failed', { message }), mayTryNext)

const newResilience = () =>
  new Resilience({ now: () => clock.ms, maxOpenMs: 30_000, onChange: () => undefined })
const clock = { ms: 0 }

beforeEach(() => {
  clock.ms = 0
})

interface Fixture {
  candidates?: readonly Candidate[]
  /** The candidates whose payers have no credit. */
  unpaid?: readonly string[]
  resilience?: Resilience
  connectionRates?: ConnectionRates
}

const all = ['a', 'b', 'c'].map((id) => candidateOf(id))

/** Runs a request at candidates that fail as given, or answer: those tried, the result, and those held for. */
async function run(outcomes: Record<string, Error>, fixture: Fixture = {}) {
  const { candidates = all, unpaid = [], ...parts } = fixture
  const books = new FailoverBooks()
  for (const { connection, billing } of candidates) {
    books.fund(billing.payer ?? '', unpaid.includes(connection.id) ? 0n : credit)
  }
  const held = () => [...books.leases].filter(([, { heldAmount: amount }]) => amount > 0n)
  const resilience = parts.resilience ?? newResilience()
  const { failover } = createFailoverFixture({ candidates, books, ...parts, resilience })
  const tried: string[] = []
  const attempt = async ({ candidate: { connection } }: { candidate: Candidate }) => {
    // Never for two at once.
    expect(held().length).toBe(1)
    tried.push(connection.id)
    const outcome = outcomes[connection.id]
    if (outcome) throw outcome
    return connection.id
  }
  const result = await failover.run({ attempt }).catch((thrown: unknown) => thrown)
  return { tried, result, held: held().map(([payer]) => payer.replace('payer_', '')) }
}

/** Fails at a candidate until its breaker opens. */
async function open(id: string, resilience = newResilience()): Promise<Resilience> {
  const down = failed('down', false)
  for (let k = 0; k < 5; k++) {
    await run({ [id]: down }, { candidates: [candidateOf(id)], resilience })
  }
  return resilience
}

async function openAll(): Promise<Resilience> {
  const resilience = newResilience()
  for (const id of ['a', 'b', 'c']) await open(id, resilience)
  return resilience
}

test('calls only the first candidate that answers', async () => {
  expect(await run({})).toEqual({ tried: ['a'], result: 'a', held: ['a'] })
})

test('fails over where the first cannot have billed, and holds only for the second', async () => {
  const answer = { tried: ['a', 'b'], result: 'b', held: ['b'] }
  expect(await run({ a: failed('refused', true) })).toEqual(answer)
})

test('does not fail over where the first may have billed', async () => {
  const lost = failed('lost half-way', false)
  expect(await run({ a: lost })).toEqual({ tried: ['a'], result: lost.error, held: [] })
})

test('tries two candidates at most, and answers with the last error', async () => {
  const outcomes = { a: failed('first', true), b: failed('second', true), c: failed('third', true) }
  const { tried, result, held } = await run(outcomes)
  expect([tried, result, held]).toEqual([['a', 'b'], outcomes.b.error, []])
})

test('one candidate alone gives its own error', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ a: refused }, { candidates: all.slice(0, 1) })
  expect([tried, result]).toEqual([['a'], refused.error])
})

test('rethrows an error that is not a failed attempt: a disconnect, a mistake of ours', async () => {
  const mistake = new TypeError('a mistake of ours')
  expect(await run({ a: mistake })).toEqual({ tried: ['a'], result: mistake, held: [] })
})

test('no candidate at all is an outage, not a crash', async () => {
  const { result } = await run({}, { candidates: [] })
  expect(result).toMatchObject({ code: 'gateway_unavailable', status: 503 })
})

test('skips a candidate without credit of its payer, without an attempt', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ b: refused }, { unpaid: ['a'] })
  expect([tried, result]).toEqual([['b', 'c'], 'c'])
})

test('answers with the rejection of a payer if none has credit', async () => {
  const { tried, result } = await run({}, { unpaid: ['a', 'b', 'c'] })
  expect([tried, result]).toMatchObject([[], { code: 'insufficient_credits' }])
})

test('reports an attempt that failed rather than that the next could not be paid', async () => {
  const refused = failed('refused', true)
  const { tried, result } = await run({ a: refused }, { unpaid: ['b', 'c'] })
  expect([tried, result]).toEqual([['a'], refused.error])
})

test('skips a candidate that keeps failing', async () => {
  const resilience = await open('a')
  expect(await run({}, { resilience })).toMatchObject({ tried: ['b'], result: 'b' })
})

test('S1: tries the candidate that is due first where all are failing', async () => {
  const resilience = await open('a')
  clock.ms += 1000
  await open('b', resilience)
  await open('c', resilience)
  const down = failed('down', true)
  expect(await run({ a: down }, { resilience })).toMatchObject({
    tried: ['a'],
    result: down.error,
    held: [],
  })
  expect(await run({}, { resilience })).toMatchObject({ tried: ['a'], result: 'a' })
  // It works again.
  expect(await run({}, { resilience })).toMatchObject({ tried: ['a'], result: 'a' })
})

/** Fails at three candidates as often as they may be tried. */
async function exhaust(): Promise<Resilience> {
  const resilience = await openAll()
  const down = failed('down', true)
  for (let k = 0; k < 10; k++) await run({ a: down, b: down, c: down }, { resilience })
  return resilience
}

test('names the time to retry if all are failing and were tried often', async () => {
  const resilience = await exhaust()
  const { tried, result, held } = await run({}, { resilience })
  expect([tried, held]).toEqual([[], []])
  expect(result).toMatchObject({ code: 'gateway_unavailable', status: 503, retryAfterSeconds: 5 })
})

test('reports a lack of credit whether or not the provider works', async () => {
  const resilience = await exhaust()
  const unpaid = ['a', 'b', 'c']
  expect((await run({}, { unpaid, resilience })).result).toMatchObject({ status: 402 })
  expect((await run({}, { unpaid: ['a', 'c'], resilience })).result).toMatchObject({ status: 503 })
  const failing = await openAll()
  expect((await run({}, { unpaid: ['a', 'c'], resilience: failing })).tried).toEqual(['b'])
})

test('without a retry budget the first error is the answer', async () => {
  const resilience = newResilience()
  for (let k = 0; k < maxSaved; k++) resilience.budget.spend(candidateOf('a'), 'user_1')
  const refused = failed('refused', true)
  const { tried, result, held } = await run({ a: refused }, { resilience })
  expect([tried, result, held]).toEqual([['a'], refused.error, []])
})

const refusedField = invalidRequest('messages', 'bad_format', 'No.')
const late = new ApiError('request_timeout')

test.each([
  ['does not heal it', { begin: refusedField, outcome: failed('down', false), isAdmitted: false }],
  ['does not fail it', { begin: late, outcome: undefined, isAdmitted: true }],
])('a failure before a candidate is called %s', async (_what, { begin, outcome, isAdmitted }) => {
  const resilience = newResilience()
  const runOnce = (beginError: Error | undefined, error: Error | undefined) => {
    const books = new FailoverBooks()
    books.beginError = beginError
    books.fund('payer_a', credit)
    const { failover } = createFailoverFixture({ candidates: all.slice(0, 1), books, resilience })
    const attempt = async () => (error ? Promise.reject(error) : 'answered')
    return failover.run({ attempt }).catch(() => undefined)
  }
  for (let time = 0; time < 5; time++) {
    await runOnce(begin, undefined)
    if (outcome) await runOnce(undefined, outcome)
  }
  expect(resilience.admits(candidateOf('a'), all, 'user_1')).toBe(isAdmitted)
})

/** The code that answers where all candidates refuse: full connections, and payers without credit. */
async function codeOf(...refusals: ('full' | 'unpaid')[]) {
  const connectionRates = new ConnectionRates(new MemoryCounters())
  const candidates = refusals.map((refusal, at) =>
    candidateOf(`${at}`, refusal === 'full' ? 1 : null),
  )
  for (const { connection } of candidates) {
    const { rpm } = connection
    if (rpm !== null) await connectionRates.admit(connection, { tokens: 0 })
  }
  const unpaid = candidates.map(({ connection }) => connection.id)
  const { result } = await run({}, { candidates, unpaid, connectionRates })
  return result instanceof ApiError ? result.code : result
}

test('4.8: the first refusal is the answer, but a full connection only where all are full', async () => {
  expect(await codeOf('unpaid', 'full')).toBe('insufficient_credits')
  expect(await codeOf('full', 'unpaid', 'unpaid')).toBe('insufficient_credits')
  expect(await codeOf('unpaid', 'unpaid', 'full')).toBe('insufficient_credits')
  expect(await codeOf('full', 'full', 'full')).toBe('rate_limit_exceeded')
})
