import { expect, test } from 'bun:test'
import type { Profile } from './profile'
import { simulate, type Outcome } from './world'

const hourMs = 3_600_000
const seeds = Array.from({ length: 32 }, (_, index) => index + 9001)

/**
 * What holds although the database goes back: until nodes notice, they hold credit of leases that it has lost, and it refuses
 * what they have returned.
 */
const promises = [
  'missing',
  'wrong amount',
  'sum',
  'ledger out of order',
  'lease not returned',
  'lease without node',
]

/** Busy enough that each failover loses something. */
const busy = (profile: Profile): Profile => ({
  ...profile,
  requestEveryMs: Math.min(profile.requestEveryMs, 1000),
  upstreamMs: Math.min(profile.upstreamMs, 2000),
})

const play = (chosen: readonly number[], isMended: boolean): Outcome[] =>
  chosen.map((seed) =>
    simulate({
      seed,
      faultyMs: 0.1 * hourMs,
      change: busy,
      failovers: { everyMs: 40_000, maxLagMs: 5000, isMended },
    }),
  )

const broken = (outcomes: readonly Outcome[]) =>
  outcomes.flatMap(({ seed, violations }) =>
    violations
      .filter(({ promise }) => promises.includes(promise))
      .map((violation) => ({ seed, ...violation })),
  )

const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0)

test('finding M21: failovers to a lagging standby lose no answered request, and book none twice', () => {
  const outcomes = play(seeds, true)
  expect(broken(outcomes)).toEqual([])
  expect(sum(outcomes.map(({ failovers }) => failovers.failovers))).toBeGreaterThan(seeds.length)
  expect(sum(outcomes.map(({ failovers }) => failovers.lost))).toBeGreaterThan(10 * seeds.length)
})

test('finding M21: the simulation finds answered requests that are lost where nodes book nothing again', () => {
  const found = new Set(broken(play(seeds.slice(0, 3), false)).map(({ promise }) => promise))
  expect(found).toContain('missing')
})
