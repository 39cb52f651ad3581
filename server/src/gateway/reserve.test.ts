import { beforeEach, describe, expect, test } from 'bun:test'
import type { Pricing } from '../catalog/model'
import { CloserBounds } from '../metering/closer-bounds'
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

const text = 'It is a text of some thousand words, which has far fewer tokens than bytes. '.repeat(
  100,
)

/** Bounds that find so many tokens in any text, and the counts that were made. */
function countingBounds(maxTokens: number) {
  const counted: number[] = []
  const charged: [ms: number, kind: string][] = []
  let debtMs = 0
  const closerBounds = new CloserBounds({
    counter: {
      async bound(texts) {
        counted.push(texts.length)
        return { maxTokens, tookMs: 7 }
      },
    },
    shares: {
      shareOf: () => ({
        charge: () => debtMs,
        note: (ms, kind) => void (ms === 7 && charged.push([ms, kind])),
      }),
    },
  })
  return { closerBounds, counted, charged, owe: () => (debtMs = 1) }
}

/** Runs a request of so many bytes of text for at most 1,000 tokens of output. */
async function runLong(candidates: Candidate[], { closerBounds }: { closerBounds: CloserBounds }) {
  const options = { candidates, books, closerBounds }
  const inputTokens = text.length + 1000
  const { failover, meter } = createFailoverFixture({ ...options, inputTokens, texts: [text] })
  const result = await failover
    .run({ attempt: async ({ candidate, body }) => [candidate.connection.id, body] })
    .catch((thrown: unknown) => thrown)
  return { result, meter }
}

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

test('U12: a more expensive candidate is paid by its own price, within the remaining credit', async () => {
  const lease = books.fund('user_1', 10_100n)
  const { sent, result, cost } = await run(
    [candidateOf('cheap', { output: 10 }), candidateOf('dear', { output: 20 })],
    ['cheap'],
  )
  expect(result).toBe('dear')
  expect(sent).toEqual({ cheap: { max_tokens: 1000 }, dear: { max_tokens: 500 } })
  expect(cost).toBe(300n)
  expect([lease.heldAmount, lease.spent]).toEqual([0n, 300n])
  expect(books.events.map(({ outcome, model, cost }) => [outcome, model, cost])).toEqual([
    ['failed_over', 'fake/10', 0n],
    ['ok', 'fake/20', 300n],
  ])
})

test('U12: skips a candidate that is too expensive in favour of an affordable one', async () => {
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

test('a connection of the caller’s own needs no credit and receives the request unchanged', async () => {
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
  expect([lease.heldAmount, lease.spent]).toEqual([0n, 20n])
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
  expect([pool.heldAmount, pool.spent, own.heldAmount, own.spent]).toEqual([0n, 0n, 0n, 200n])
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
  expect(lease.heldAmount).toBe(10_100n)
  await meter.end({ usage: undefined, outcome: 'ok' })
  expect(lease.heldAmount).toBe(0n)
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
  expect(lease.heldAmount).toBe(0n)
})

describe('finding M23: a prompt whose hold by bytes cannot be paid', () => {
  // By bytes 8,600 in and 2,560 out; counted, 4,000 less.
  const plain = BigInt(text.length) + 1000n + 2560n
  const closer = plain - 4000n

  test('is counted, and held by the count', async () => {
    const lease = books.fund('user_1', closer)
    const { closerBounds, counted, charged } = countingBounds(text.length - 4000)
    const { result, meter } = await runLong([candidateOf('one')], { closerBounds })
    expect(result).toEqual(['one', { max_tokens: 256 }])
    expect([lease.heldAmount, counted, charged]).toEqual([closer, [1], [[7, 'useful']]])
    const usage = { ...estimateUsage({ promptTokens: 3000 }), output: 10, estimated: false }
    expect(await meter.end({ usage, outcome: 'ok' })).toBe(3100n)
  })

  test('is not counted where the plain hold can be paid', async () => {
    books.fund('user_1', plain)
    const { closerBounds, counted } = countingBounds(0)
    const { result } = await runLong([candidateOf('one')], { closerBounds })
    expect([result, counted]).toEqual([['one', { max_tokens: 256 }], []])
  })

  test('is rejected with the balance and the count’s requirement, and charged as rejected work', async () => {
    books.fund('user_1', closer - 1n)
    const { closerBounds, counted, charged } = countingBounds(text.length - 4000)
    const { result } = await runLong([candidateOf('one')], { closerBounds })
    expect(result).toMatchObject({
      code: 'insufficient_credits',
      details: {
        current_balance: Number(closer - 1n) / 1e9,
        minimum_required: Number(closer) / 1e9,
      },
    })
    expect([counted, charged]).toEqual([[1], [[7, 'idle']]])
  })

  test.each<[string, bigint]>([
    ['nothing', 0n],
    // Two fifths of its bytes.
    ['too little for any count', 2560n + 1000n + (BigInt(text.length) * 2n) / 5n - 1n],
  ])('is not counted for an account with %s', async (_what, credit) => {
    books.fund('user_1', credit)
    const { closerBounds, counted } = countingBounds(0)
    const { result } = await runLong([candidateOf('one')], { closerBounds })
    expect(result).toMatchObject({ details: { minimum_required: Number(plain) / 1e9 } })
    expect(counted).toEqual([])
  })

  test('is not counted for an account that has used its share of counts', async () => {
    books.fund('user_1', closer)
    const { closerBounds, counted, owe } = countingBounds(0)
    owe()
    const { result } = await runLong([candidateOf('one')], { closerBounds })
    expect([result, counted]).toMatchObject([{ code: 'insufficient_credits' }, []])
  })

  test('is counted once for all candidates', async () => {
    books.fund('user_1', closer)
    const { closerBounds, counted, charged } = countingBounds(text.length - 4000)
    const candidates = [candidateOf('dear', { output: 11 }), candidateOf('one')]
    const { result } = await runLong(candidates, { closerBounds })
    expect(result).toEqual(['one', { max_tokens: 256 }])
    expect([counted, charged[0]]).toEqual([[1], [7, 'idle']])
  })

  test('charges the provider’s count beyond the hold, out of the lease', async () => {
    const lease = books.fund('user_1', closer + 100n)
    const { closerBounds } = countingBounds(text.length - 4000)
    const { meter } = await runLong([candidateOf('one')], { closerBounds })
    const promptTokens = Number(closer) - 2560 + 60
    const usage = { ...estimateUsage({ promptTokens }), output: 256, estimated: false }
    const cost = closer + 60n
    expect(await meter.end({ usage, outcome: 'ok' })).toBe(cost)
    expect([lease.heldAmount, lease.spent]).toEqual([0n, cost])
  })
})
