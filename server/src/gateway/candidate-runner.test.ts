import { beforeEach, expect, test } from 'bun:test'
import { UsageDrainPool } from './usage-drain-pool'
import { CandidateRunner } from './candidate-runner'
import type { Pricing } from '../catalog/model'
import { sampleConnection, sampleModel, sampleOpen } from '../../testing/catalog/samples'
import { ApiError } from '../errors'
import { InsufficientCredit, type CreditDemand } from '../ledger/credit-demand'
import { Hold, LocalLease } from '../ledger/local-lease'
import type { UsageEvent } from '../ledger/usage-event'
import { Metering } from '../metering/metering'
import { stage } from '../../testing/metering/months'
import { ConnectionRates } from '../limits/connection-rates'
import { RateLimits } from '../limits/limits'
import { MemoryCounters } from '../limits/memory-counters'
import { readOutputLimit } from '../providers/openai/request'
import { AttemptFailed } from '../upstream/attempt'
import type { Billing, Candidate } from '../routing/candidate'
import { sampleCandidate } from '../../testing/routing/candidate'
import { PoolTurns } from '../routing/pool-turns'
import { Resilience } from '../routing/resilience'
import { estimateUsage } from '../metering/estimate'

/** An input token costs one nano-dollar, one of output `output`. */
const priceOf = (output: number): Pricing => ({
  input: 1_000_000n,
  output: BigInt(output) * 1_000_000n,
})
const inputTokens = 100

let slices: Map<string, LocalLease>
let events: UsageEvent[]
let feeMillionths = 0

beforeEach(() => {
  slices = new Map()
  events = []
  feeMillionths = 0
})

/** Gives an account so many nano-dollars. */
function fund(accountId: string, amount: bigint): LocalLease {
  const slice = new LocalLease(`lease of ${accountId}`, 0)
  slice.amount = amount
  slices.set(accountId, slice)
  return slice
}

function holdOf(accountId: string, need: CreditDemand): Hold {
  const slice = slices.get(accountId) ?? fund(accountId, 0n)
  if (slice.free < need.floor) throw new InsufficientCredit(slice.free, need.floor)
  return new Hold(slice, need.full < slice.free ? need.full : slice.free, () => undefined)
}

const newMetering = () =>
  new Metering({
    purses: { of: (accountId) => ({ hold: (need) => holdOf(accountId, need) }) },
    restrictions: { of: () => undefined },
    minimumBalance: 0n,
    begin: () => Promise.resolve(),
    settle: async (event) => {
      events.push(event)
      return event.cost
    },
    onError: () => undefined,
    feeMillionths,
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

/** The turns of a request for at most 1,000 tokens, and its meter. */
function turnsOf(candidates: Candidate[]) {
  const metering = newMetering()
  const connectionRates = new ConnectionRates(new MemoryCounters())
  const limits = new RateLimits(new MemoryCounters())
  const { months } = stage()
  const settings = { current: { ...sampleOpen, unansweredRequests: 'charge' as const } }
  const drains = new UsageDrainPool({ max: 1, lifeMs: 1000 })
  const resilience = new Resilience({ now: () => 0, maxOpenMs: 1000, onChange: () => undefined })
  const meter = metering.meter({
    requestId: 'req_1',
    userId: 'user_1',
    keyId: 'key_1',
    operation: 'chat',
    streamed: false,
    hasOwnLimit: true,
    requestedModel: 'fake/10',
    passedOver: [],
  })
  const [first = candidateOf('none')] = candidates
  const turns = new CandidateRunner({
    endpoint: {
      priced: 'chat',
      volume: ({ body }) => ({
        inputTokens,
        choices: 1,
        outputLimit: readOutputLimit(body)?.limit ?? 0,
        extraOutputTokens: 0,
        hears: false,
        speaks: false,
        images: 0,
        requests: 1,
        longestPrompt: 1,
        serviceTier: undefined,
        searches: 0,
      }),
    },
    checked: {
      ports: {
        metering,
        resilience,
        connectionRates,
        turns: new PoolTurns(),
        limits,
        months,
        settings,
        drains,
        timers: { requestMs: 1000, streamMs: 5000 },
      },
      principal: { accountId: 'user_1', userId: 'user_1' },
      body: { max_tokens: 1000, speed: 'fast' },
      priced: undefined,
      model: first.model,
      candidates,
    },
    meter,
    month: undefined,
    tokens: 100,
  })
  return { turns, meter }
}

const refused = () => new AttemptFailed(new ApiError('connection_failed'), true)

/** Asks; `failing` refuse. What each was sent, who answered, and the cost of 100 tokens in and 10 out. */
async function ask(candidates: Candidate[], failing: readonly string[] = []) {
  const { turns, meter } = turnsOf(candidates)
  const sent: Record<string, unknown> = {}
  const result = await turns
    .ask({
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

test('U12: a dearer candidate is paid by its own price, and its limit is what is left for it', async () => {
  const slice = fund('user_1', 10_100n)
  const { sent, result, cost } = await ask(
    [candidateOf('cheap', { output: 10 }), candidateOf('dear', { output: 20 })],
    ['cheap'],
  )
  expect(result).toBe('dear')
  expect(sent).toEqual({ cheap: { max_tokens: 1000 }, dear: { max_tokens: 500 } })
  expect(cost).toBe(300n)
  expect([slice.held, slice.spent]).toEqual([0n, 300n])
  expect(events.map(({ outcome, model, cost }) => [outcome, model, cost])).toEqual([
    ['failed_over', 'fake/10', 0n],
    ['ok', 'fake/20', 300n],
  ])
})

test('U12: one that is too dear is passed over, for one that can be paid', async () => {
  fund('user_1', 3000n)
  const { sent, result } = await ask([candidateOf('dear', { output: 50 }), candidateOf('cheap')])
  expect([result, Object.keys(sent)]).toEqual(['cheap', ['cheap']])
  expect(events.map(({ outcome }) => outcome)).toEqual(['ok'])
})

test('where none can be paid, the first one’s words are the answer, and nobody is asked', async () => {
  fund('user_1', 0n)
  const { sent, result } = await ask([candidateOf('one'), candidateOf('dear', { output: 50 })])
  expect(result).toMatchObject({ code: 'insufficient_credits', status: 402 })
  // 100 tokens in, 256 out at 10.
  expect(result).toMatchObject({ details: { minimum_required: 2660e-9 } })
  expect([sent, events]).toEqual([{}, []])
})

test('one’s own connection costs nothing and needs no credit, and gets the request as it came', async () => {
  const { sent, result, cost } = await ask([candidateOf('own', { mode: 'byok' })])
  expect([result, cost]).toEqual(['own', 0n])
  expect(sent).toEqual({ own: { max_tokens: 1000, speed: 'fast' } })
  expect(events).toMatchObject([{ billingMode: 'byok', accountId: 'user_1', cost: 0n }])
})

test('a fee is all that one’s own connection costs', async () => {
  feeMillionths = 100_000
  const slice = fund('user_1', 1010n)
  const { result, cost } = await ask([candidateOf('own', { mode: 'byok' })])
  // 100 in and 10 out at 10 are 200, of which a tenth is charged.
  expect([result, cost]).toEqual(['own', 20n])
  expect([slice.held, slice.spent]).toEqual([0n, 20n])
  expect(events).toMatchObject([{ billingMode: 'byok', feeMillionths: 100_000, cost: 20n }])
})

test('each candidate has its payer: the organization, then the member', async () => {
  feeMillionths = 500_000
  const organization = { organizationId: 'org_1' }
  const [pool, own] = [fund('org_1', 10_000n), fund('user_1', 20_000n)]
  const candidates = [
    candidateOf('org', { mode: 'org_pays', payer: 'org_1', ...organization }),
    candidateOf('member', { mode: 'member_pays', ...organization }),
  ]
  expect((await ask(candidates, ['org'])).cost).toBe(200n)
  expect([pool.held, pool.spent, own.held, own.spent]).toEqual([0n, 0n, 0n, 200n])
  expect(events).toMatchObject([
    { billingMode: 'org_pays', accountId: 'org_1', organizationId: 'org_1', cost: 0n },
    { billingMode: 'member_pays', accountId: 'user_1', organizationId: 'org_1', cost: 200n },
  ])
  pool.amount = 0n
  expect((await ask(candidates)).result).toBe('member')
})

test('the parts of a request share a turn, and begin where the others are', async () => {
  const slice = fund('user_1', 20_000n)
  const one = candidateOf('one')
  const two = { ...candidateOf('two'), model: one.model }
  const { turns, meter } = turnsOf([one, two])
  const asked: string[] = []
  const part = () =>
    turns.ask({
      attempt: async ({ candidate: { connection } }) => {
        asked.push(connection.id)
        if (connection.id === 'one') throw refused()
      },
    })
  await Promise.all([part(), part()])
  await part()
  expect(asked.toSorted()).toEqual(['one', 'one', 'two', 'two', 'two'])
  expect(slice.held).toBe(10_100n)
  await meter.end({ usage: undefined, outcome: 'ok' })
  expect(slice.held).toBe(0n)
})

test('a part does not move to another payer while the others are with this one', async () => {
  fund('user_1', 20_000n)
  const { turns } = turnsOf([candidateOf('own', { mode: 'byok' }), candidateOf('platform')])
  let isFirst = true
  const part = () =>
    turns.ask({
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

test('nothing is held for a request that has ended', async () => {
  const slice = fund('user_1', 20_000n)
  const { turns, meter } = turnsOf([candidateOf('one')])
  await meter.end({ usage: undefined, outcome: 'cancelled' })
  await expect(turns.ask({ attempt: async () => 'asked' })).rejects.toMatchObject({
    code: 'gateway_unavailable',
  })
  expect(slice.held).toBe(0n)
})
