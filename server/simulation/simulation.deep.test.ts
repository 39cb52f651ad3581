import { describe, expect, test } from 'bun:test'
import { ReferenceLedger } from '../testing/ledger/reference-ledger'
import type { Return } from '../src/ledger/return-leases'
import type { FaultKind, Profile } from './profile'
import { simulate } from './world'

const hourMs = 3_600_000

/** Seeds of random profiles that broke a promise once; the defects are fixed. */
const foundSeeds: readonly [seed: number, found: string][] = [
  [1007, 'an account locked by other transactions: requests failed after 30 s'],
  [1010, 'requests were rejected while unused credit of a node was being returned'],
  [1260, 'a lease was locked during its recall, and nothing was returned after that'],
  [1338, 'a node without a connection for two seconds took the silence for an answer'],
  [1346, 'a lease was locked during its renewal, and others took its node for dead'],
  [5010, 'credit that a node kept counted as its answer, though its requests failed'],
]

describe('seeds that broke a promise once', () => {
  for (const [seed, found] of foundSeeds) {
    test(`finding M1: ${seed} holds: ${found}`, () => {
      expect(simulate({ seed, faultyMs: 0.3 * hourMs }).violations).toEqual([])
    })
  }
})

/** Two nodes that share a small balance, with late statements. */
const lateStatements = (profile: Profile): Profile => ({
  ...profile,
  nodes: 2,
  accounts: 1,
  roundTripMs: 5,
  faults: new Map<FaultKind, number>([['account locked', 20_000]]),
  messages: { ...profile.messages, lateStatement: 0.1, lostAnswer: 0.05 },
  requestEveryMs: 500,
  topUp: 500_000,
  minimum: 0n,
  largestHold: 20_000,
})

/** A ledger without generations: fences have no effect, so late statements are applied. */
class LedgerWithoutFences extends ReferenceLedger {
  override fence(fenced: Parameters<ReferenceLedger['fence']>[0]) {
    const lease = this.leases.get(fenced.leaseId)
    const { generation = 0 } = lease ?? {}
    const answer = super.fence(fenced)
    if (lease) lease.generation = generation
    else this.leases.delete(fenced.leaseId)
    return { ...answer, generation }
  }
}

/** A ledger that applies a late return, whatever the state of the lease. */
class LedgerWithLateReturns extends ReferenceLedger {
  override giveBack(
    returns: readonly Return[],
    options: { isLast: boolean },
    isLocked?: (accountId: string) => boolean,
  ) {
    const newest = returns.map((one) => {
      const lease = this.leases.get(one.leaseId)
      return lease?.state === 'active' ? { ...one, generation: lease.generation } : one
    })
    return super.giveBack(newest, options, isLocked)
  }
}

/**
 * Only few seeds meet the moment at which a late statement matters: 117 and 181 do where fences have no effect; 112, 190 and
 * 1237 broke a promise once.
 */
const seeds = [...Array.from({ length: 48 }, (_, index) => index + 1), 117, 181, 112, 190, 1237]

/** A ledger in which, besides, leases that no node knows are never freed. */
class LedgerWithoutSweeps extends LedgerWithoutFences {
  override end(ids: readonly string[], state: 'closed' | 'swept') {
    super.end(state === 'swept' ? [] : ids, state)
  }
}

const outcomes = (ledger: () => ReferenceLedger) =>
  seeds.map((seed) =>
    simulate({ seed, faultyMs: 0.1 * hourMs, change: lateStatements, ledger: ledger() }),
  )

describe('late statements about leases', () => {
  for (const [promise, defect, ledger] of [
    ['hold without credit', 'fences have no effect', () => new LedgerWithoutFences()],
    ['hold without credit', 'late returns are applied', () => new LedgerWithLateReturns()],
    ['lease without node', 'sweeps free nothing either', () => new LedgerWithoutSweeps()],
  ] as const) {
    test(`finding M1: ${promise} is detected where ${defect}`, () => {
      const found = outcomes(ledger).flatMap(({ violations }) => violations)
      expect(found.map((violation) => violation.promise)).toContain(promise)
    })
  }

  test('finding M1: break no promise where generations are compared', () => {
    const held = outcomes(() => new ReferenceLedger())
    expect(held.flatMap(({ violations }) => violations)).toEqual([])
    for (const { faults, requests } of held) {
      expect(faults.get('lateStatement')).toBeGreaterThan(0)
      expect(requests.served).toBeGreaterThan(100)
    }
  })
})

test('a seed replays the same run', () => {
  const [first, second] = [1, 2].map(() => simulate({ seed: 42, faultyMs: 0.1 * hourMs }))
  expect(second).toEqual(first)
})
