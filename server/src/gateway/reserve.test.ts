import { beforeEach, expect, test } from 'bun:test'
import type { Pricing } from '../catalog/model'
import { ApiError } from '../errors'
import { estimateUsage } from '../metering/estimate'
import type { Billing, Candidate } from '../routing/candidate'
import { AttemptFailed } from '../upstream/attempt-failed'
import { sampleConnection, sampleModel } from '../../testing/catalog/samples'
import { FailoverBooks, createFailoverFixture } from '../../testing/gateway/failover'
import { sampleCandidate } from '../../testing/routing/candidate'

/** An input token costs one nano-dollar, one of output `output`. */
const priceOf = (output: number): Pricing => ({
  input: 1_000_000n,
  output: BigInt(output) * 1_000_000n,
})

let books: FailoverBooks

beforeEach(() => {
  books = new FailoverBooks()
})

interface Line extends Partial<Billing> {
  output?: number
}

/** A candidate on a connection of that name. */
const candidateOf = (id: string, { output = 10, ...billing }: Line = {}): Candidate =>
  sampleCandidate({
    connection: sampleConnection({ id }),
    model: sampleModel({ id: `fake/${output}`, pricing: priceOf(output) }),
    billing: { mode: 'platform', payer: 'user_1', organizationId: null, ...billing },
  })

const refused = () => new AttemptFailed(new ApiError('connection_failed'), true)

/** Runs a request that `failing` refuse: the bodies sent, the result, and the cost of 100 tokens in and 10 out. */
async function run(candidates: Candidate[], failing: readonly string[] = []) {
  const { failover, meter } = createFailoverFixture({ candidates, books })
  const sent: Record<string, unknown> = {}
  const result = await failover
    .run({
      attempt: async ({ candidate, body }) => {
        const { id } = candidate.connection
        sent[id] = body
        if (failing.includes(id)) throw refused()
        return id
      },
    })
    .catch((thrown: unknown) => thrown)
  const usage = estimateUsage({ promptTokens: 100 })
  const cost = await meter.end({ usage: { ...usage, output: 10 }, outcome: 'ok' })
  return { sent, result, cost }
}

test('U12: a dearer candidate is paid by its own price, within the credit that is left', async () => {
  const lease = books.fund('user_1', 10_100n)
  const { sent, result, cost } = await run(
    [candidateOf('cheap', { output: 10 }), candidateOf('dear', { output: 20 })],
    ['cheap'],
  )
  expect(result).toBe('dear')
  expect(sent).toEqual({ cheap: { max_tokens: 1000 }, dear: { max_tokens: 500 } })
  expect(cost).toBe(300n)
  expect([lease.held, lease.spent]).toEqual([0n, 300n])
  expect(books.events.map(({ outcome, model, cost }) => [outcome, model, cost])).toEqual([
    ['failed_over', 'fake/10', 0n],
    ['ok', 'fake/20', 300n],
  ])
})

test('U12: skips a candidate that is too dear for one that can be paid', async () => {
  books.fund('user_1', 3000n)
  const { sent, result } = await run([candidateOf('dear', { output: 50 }), candidateOf('cheap')])
  expect([result, Object.keys(sent)]).toEqual(['cheap', ['cheap']])
  expect(books.events.map(({ outcome }) => outcome)).toEqual(['ok'])
})

test('answers with the first refusal where no candidate can be paid, and sends nothing', async () => {
  books.fund('user_1', 0n)
  const { sent, result } = await run([candidateOf('one'), candidateOf('dear', { output: 50 })])
  expect(result).toMatchObject({ code: 'insufficient_credits', status: 402 })
  // 100 tokens in, 256 out at 10.
  expect(result).toMatchObject({ details: { minimum_required: 2660e-9 } })
  expect([sent, books.events]).toEqual([{}, []])
})

test('a connection of the caller’s own needs no credit and gets the request unchanged', async () => {
  const { sent, result, cost } = await run([candidateOf('own', { mode: 'byok' })])
  expect([result, cost]).toEqual(['own', 0n])
  expect(sent).toEqual({ own: { max_tokens: 1000, speed: 'fast' } })
  expect(books.events).toMatchObject([{ billingMode: 'byok', accountId: 'user_1', cost: 0n }])
})

test('charges only the fee for a connection of the caller’s own', async () => {
  books.feeMillionths = 100_000
  const lease = books.fund('user_1', 1010n)
  const { result, cost } = await run([candidateOf('own', { mode: 'byok' })])
  // 100 in and 10 out at 10 are 200, of which a tenth is charged.
  expect([result, cost]).toEqual(['own', 20n])
  expect([lease.held, lease.spent]).toEqual([0n, 20n])
  expect(books.events).toMatchObject([{ billingMode: 'byok', feeMillionths: 100_000, cost: 20n }])
})

test('charges each candidate to its own payer: the organization, then the member', async () => {
  books.feeMillionths = 500_000
  const organization = { organizationId: 'org_1' }
  const [pool, own] = [books.fund('org_1', 10_000n), books.fund('user_1', 20_000n)]
  const candidates = [
    candidateOf('org', { mode: 'org_pays', payer: 'org_1', ...organization }),
    candidateOf('member', { mode: 'member_pays', ...organization }),
  ]
  expect((await run(candidates, ['org'])).cost).toBe(200n)
  expect([pool.held, pool.spent, own.held, own.spent]).toEqual([0n, 0n, 0n, 200n])
  expect(books.events).toMatchObject([
    { billingMode: 'org_pays', accountId: 'org_1', organizationId: 'org_1', cost: 0n },
    { billingMode: 'member_pays', accountId: 'user_1', organizationId: 'org_1', cost: 200n },
  ])
  pool.amount = 0n
  expect((await run(candidates)).result).toBe('member')
})

test('the parts of a request share an attempt and begin with the candidate of the others', async () => {
  const lease = books.fund('user_1', 20_000n)
  const one = candidateOf('one')
  const two = { ...candidateOf('two'), model: one.model }
  const { failover, meter } = createFailoverFixture({ candidates: [one, two], books })
  const tried: string[] = []
  const part = () =>
    failover.run({
      attempt: async ({ candidate: { connection } }) => {
        tried.push(connection.id)
        if (connection.id === 'one') throw refused()
      },
    })
  await Promise.all([part(), part()])
  await part()
  expect(tried.toSorted()).toEqual(['one', 'one', 'two', 'two', 'two'])
  expect(lease.held).toBe(10_100n)
  await meter.end({ usage: undefined, outcome: 'ok' })
  expect(lease.held).toBe(0n)
})

test('a part does not fail over to another payer while the others are with this one', async () => {
  books.fund('user_1', 20_000n)
  const candidates = [candidateOf('own', { mode: 'byok' }), candidateOf('platform')]
  const { failover } = createFailoverFixture({ candidates, books })
  let isFirst = true
  const part = () =>
    failover.run({
      attempt: async ({ candidate: { connection } }) => {
        const fails = connection.id === 'own' && !isFirst
        isFirst = false
        if (fails) throw refused()
        return connection.id
      },
    })
  expect(await part()).toBe('own')
  await expect(part()).rejects.toMatchObject({ code: 'connection_failed' })
})

test('holds nothing for a request that has ended', async () => {
  const lease = books.fund('user_1', 20_000n)
  const { failover, meter } = createFailoverFixture({ candidates: [candidateOf('one')], books })
  await meter.end({ usage: undefined, outcome: 'cancelled' })
  await expect(failover.run({ attempt: async () => 'sent' })).rejects.toMatchObject({
    code: 'gateway_unavailable',
  })
  expect(lease.held).toBe(0n)
})
