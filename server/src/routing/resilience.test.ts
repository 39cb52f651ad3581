import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { AttemptFailed } from './attempt'
import type { Candidate } from './candidate'
import { sampleCandidate } from './candidate-for-tests'
import { dispatch } from './dispatch'
import { Resilience } from './resilience'
import { mostSaved, RetryBudget } from './retry-budget'
import { sampleConnection, sampleModel, sampleProvider } from '../catalog/samples'
import { ApiError } from '../errors'

const candidateOf = (id: string, provider = 'fake', owner: string | null = null) =>
  sampleCandidate({
    provider: sampleProvider({ key: provider }),
    connection: sampleConnection({ id, provider, owner }),
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
    longestMs: 30_000,
    onChange: () => undefined,
  })

  /** Whether a request was answered. */
  async ask(
    candidates: readonly Candidate[],
    outcomeOf: (id: string) => Outcome,
  ): Promise<boolean> {
    this.requests++
    const course = {
      candidates,
      resilience: this.resilience,
      open: (candidate: Candidate) => candidate,
      close: () => undefined,
      begin: () => Promise.resolve(),
      passOver: () => undefined,
      waits: () => undefined,
      isMinor: () => false,
    }
    const attempt = async ({ connection }: Candidate) => {
      this.attempts++
      const outcome = outcomeOf(connection.id)
      if (outcome !== 'answers') throw failureOf(outcome)
    }
    return dispatch(course, { attempt }).then(
      () => true,
      () => false,
    )
  }
}

const first = candidateOf('conn_1')
const second = candidateOf('conn_2')
const elsewhere = candidateOf('conn_3', 'other')

test('whatever fails, attempts keep to 1.2 a request and a few at once', async () => {
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
    return world.attempts <= 1.2 * world.requests + 2 * mostSaved
  })
  await fc.assert(property, { numRuns: 200 })
})

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

test.each([1, 60_000])(
  'a first connection that is down costs nobody an answer, with a request every %i ms',
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
    expect(world.attempts).toBeLessThanOrEqual(1.2 * world.requests + mostSaved)
  },
)

test('U14: of two connections, one that comes and goes costs few answers', async () => {
  const world = new World()
  let served = 0
  for (; world.nowMs < 120_000; world.nowMs += 10) {
    const isUp = Math.floor(world.nowMs / 5000) % 2 === 0
    const outcomeOf = (id: string) => (id === 'conn_1' && !isUp ? 'breaks' : 'answers')
    if (await world.ask([first, second], outcomeOf)) served++
  }
  expect(served / world.requests).toBeGreaterThan(0.99)
})

test('U13: a customer whose own connection fails uses up nobody else’s further attempts', () => {
  const budget = new RetryBudget()
  const theirs = candidateOf('conn_theirs', 'fake', 'user_1')
  let spent = 0
  while (budget.spend(theirs)) spent++
  expect(spent).toBe(mostSaved)
  expect([first, candidateOf('conn_4', 'fake', 'user_2')].map((one) => budget.has(one))).toEqual([
    true,
    true,
  ])
})

test('five requests earn one further attempt, and what is full takes no memory', () => {
  const budget = new RetryBudget()
  while (budget.spend(first));
  for (let k = 0; k < 4; k++) budget.earn(first)
  expect(budget.spend(first)).toBe(false)
  budget.earn(first)
  expect([budget.spend(first), budget.spend(first), budget.size]).toEqual([true, false, 1])
  for (let k = 0; k < 5 * mostSaved; k++) budget.earn(first)
  expect([budget.has(first), budget.size]).toEqual([true, 0])
})
