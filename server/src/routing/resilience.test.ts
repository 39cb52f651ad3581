import { describe, expect, spyOn, test } from 'bun:test'
import * as fc from '../../testing/property'
import { AttemptFailed } from '../upstream/attempt-failed'
import type { Candidate } from './candidate'
import { createFailoverFixture } from '../../testing/gateway/failover'
import { sampleCandidate } from '../../testing/routing/candidate'
import { Resilience } from './resilience'
import { maxSaved, maxSavedOfAccount, RetryBudget } from './retry-budget'
import { sampleConnection, sampleModel, sampleProvider } from '../../testing/catalog/samples'
import { ApiError } from '../errors'
import { settled } from '../../testing/clock'
import { isDeep } from '../../testing/depth'

const candidateOf = (id: string, provider = 'fake', owner: string | null = null) =>
  sampleCandidate({
    provider: sampleProvider({ key: provider }),
    connection: sampleConnection({ id, provider, owner }),
    billing: { mode: 'free', payer: null, organizationId: null },
  })

type Outcome = 'answers' | 'refuses' | 'breaks' | 'is busy'

function failureOf(outcome: Outcome): AttemptFailed {
  if (outcome !== 'is busy') {
    return new AttemptFailed(new ApiError('connection_failed'), outcome === 'refuses')
  }
  const error = new ApiError('provider_error', {
    status: 503,
    details: { provider: 'fake', provider_error: 'busy' },
    retryAfterSeconds: 2,
  })
  return new AttemptFailed(error, true)
}

/** Requests to candidates in a time of its own. */
class World {
  nowMs = 0
  attempts = 0
  requests = 0
  readonly resilience = new Resilience({
    now: () => this.nowMs,
    maxOpenMs: 30_000,
    onChange: () => undefined,
  })

  /** Whether a request was answered. */
  async ask(
    candidates: readonly Candidate[],
    outcomeOf: (id: string) => Outcome,
    account = 'user_1',
  ): Promise<boolean> {
    this.requests++
    const { failover } = createFailoverFixture({
      candidates,
      accountId: account,
      resilience: this.resilience,
    })
    const attempt = async ({ candidate: { connection } }: { candidate: Candidate }) => {
      this.attempts++
      const outcome = outcomeOf(connection.id)
      if (outcome !== 'answers') throw failureOf(outcome)
    }
    return failover.run({ attempt }).then(
      () => true,
      () => false,
    )
  }
}

const first = candidateOf('conn_1')
const second = candidateOf('conn_2')
const elsewhere = candidateOf('conn_3', 'other')

if (isDeep)
  test('attempts stay at 1.2 a request and a few at once, for any failures', async () => {
    const outcome = fc.constantFrom<Outcome>('answers', 'refuses', 'breaks', 'is busy')
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 20_000 }),
      times: fc.integer({ min: 1, max: 100 }),
      // Many models have many breakers, which may all stay closed while everything fails.
      models: fc.constantFrom(1, 3, 1000),
      outcomes: fc.tuple(outcome, outcome, outcome),
    })
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new World()
      for (const { waitMs, times, models, outcomes } of steps) {
        world.nowMs += waitMs
        const outcomeOf = (id: string) => outcomes[Number(id.slice(-1)) - 1] ?? 'answers'
        for (let k = 0; k < times; k++) {
          const model = sampleModel({ id: `fake/${k % models}` })
          const all = [first, second, elsewhere].map((candidate) => ({ ...candidate, model }))
          await world.ask(all, outcomeOf)
        }
      }
      // Two providers, each with what it saved.
      return world.attempts <= 1.2 * world.requests + 2 * maxSaved
    })
    await fc.assert(property, { numRuns: 200 })
  })

if (isDeep)
  describe('U10: nothing answers for 60 s, at 200 requests a second', () => {
    test.each([
      ['one connection', [first]],
      ['two', [first, second]],
      ['three of two providers', [first, second, elsewhere]],
    ])('%s', async (_name, candidates) => {
      const world = new World()
      for (; world.nowMs < 60_000; world.nowMs += 5) await world.ask(candidates, () => 'refuses')
      expect(world.attempts).toBeLessThan(100)
      let servedAtMs = Infinity
      let refusedLater = 0
      for (; world.nowMs < 100_000; world.nowMs += 5) {
        const isServed = await world.ask(candidates, () => 'answers')
        if (isServed) servedAtMs = Math.min(servedAtMs, world.nowMs)
        else if (servedAtMs < Infinity) refusedLater++
      }
      // Once it works, it does for all.
      expect(refusedLater).toBe(0)
      expect(servedAtMs - 60_000).toBeLessThanOrEqual(30_000)
    })
  })

test('at most ten requests of an account try the last route, also if all were let through at once', async () => {
  const { resilience } = new World()
  for (let k = 0; k < 5; k++) {
    const attempt = resilience.begin(first, 'user_1')
    resilience.end(attempt, failureOf('refuses'))
  }
  // Each waits between its look at the breaker and its attempt, as for credit.
  spyOn(resilience, 'loadState').mockImplementation(() => Promise.resolve())
  const ended = Promise.withResolvers<void>()
  let attempts = 0
  const attempt = () => {
    attempts++
    return ended.promise
  }
  const requests = Array.from({ length: 40 }, () => {
    const { failover } = createFailoverFixture({ candidates: [first], resilience })
    return failover.run({ attempt }).then(
      () => 'answered',
      (error: ApiError) => error.code,
    )
  })
  await settled()
  ended.resolve()
  const outcomes = await Promise.all(requests)
  expect(attempts).toBe(10)
  expect(outcomes.filter((outcome) => outcome === 'gateway_unavailable')).toHaveLength(30)
})

test.each([1, 60_000])(
  'a first connection that is down costs no caller an answer, with a request every %i ms',
  async (everyMs) => {
    const world = new World()
    let unserved = 0
    for (let k = 0; k < 2000; k++) {
      world.nowMs += everyMs
      const isServed = await world.ask([first, second], (id) =>
        id === 'conn_1' ? 'refuses' : 'answers',
      )
      if (!isServed) unserved++
    }
    expect(unserved).toBe(0)
    expect(world.attempts).toBeLessThanOrEqual(1.2 * world.requests + maxSaved)
  },
)

test('S1: one account at one bad request a second fails no answer of another', async () => {
  const world = new World()
  let served = 0
  for (; world.nowMs < 59_000; world.nowMs += 1000) {
    for (const outcome of ['is busy', 'breaks', 'refuses'] as const) {
      await world.ask([first], () => outcome, 'user_hostile')
    }
    if (await world.ask([first], () => 'answers', 'user_2')) served++
  }
  expect(served).toBe(59)
})

test('U14: an unstable connection beside a good one costs few answers', async () => {
  const world = new World()
  let served = 0
  for (; world.nowMs < 120_000; world.nowMs += 10) {
    const isUp = Math.floor(world.nowMs / 5000) % 2 === 0
    const outcomeOf = (id: string) => (id === 'conn_1' && !isUp ? 'breaks' : 'answers')
    if (await world.ask([first, second], outcomeOf)) served++
  }
  expect(served / world.requests).toBeGreaterThan(0.99)
})

test('U13: a customer whose own connection fails uses no retries of others', () => {
  const budget = new RetryBudget()
  const theirs = candidateOf('conn_theirs', 'fake', 'user_1')
  while (budget.spend(theirs, 'user_1'));
  const others = [first, candidateOf('conn_4', 'fake', 'user_2')]
  expect(others.map((one) => budget.has(one, 'user_1'))).toEqual([true, true])
})

test('S1: one account uses half of the saved retries at most', () => {
  const budget = new RetryBudget()
  const spentBy = (account: string) => {
    let spent = 0
    while (budget.spend(first, account)) spent++
    return spent
  }
  expect(['a', 'b', 'c'].map(spentBy)).toEqual([maxSavedOfAccount, maxSaved - maxSavedOfAccount, 0])
  // Whose requests fail all the time spends what they earned; what others earned is theirs.
  for (let k = 0; k < 1000; k++) {
    budget.earn(first, 'a')
    budget.spend(first, 'a')
    budget.earn(first, 'c')
  }
  expect(spentBy('c')).toBe(maxSavedOfAccount)
})

test('five requests earn one further attempt, and a full budget uses no memory', () => {
  const budget = new RetryBudget()
  while (budget.spend(first, 'a'));
  for (let k = 0; k < 4; k++) budget.earn(first, 'a')
  expect(budget.spend(first, 'a')).toBe(false)
  budget.earn(first, 'a')
  const spent = [budget.spend(first, 'a'), budget.spend(first, 'a')]
  expect([...spent, budget.size]).toEqual([true, false, 1])
  for (let k = 0; k < 5 * maxSaved; k++) budget.earn(first, 'a')
  expect([budget.has(first, 'a'), budget.size]).toEqual([true, 0])
})
