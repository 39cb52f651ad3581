import { describe, expect, test } from 'bun:test'
import type { Profile } from './profile'
import { simulate } from './world'

const minuteMs = 60_000
const seeds = [1, 2, 3, 4]

/** One account that is nearly used up, and one caller after another on each node; no faults. */
const nearlyUsedUp =
  (nodes: number, roundTripMs: number, requestEveryMs: number) =>
  (profile: Profile): Profile => ({
    ...profile,
    nodes,
    accounts: 1,
    roundTripMs,
    faults: new Map(),
    messages: {
      lateStatement: 0,
      lostStatement: 0,
      lostAnswer: 0,
      repeatedStatement: 0,
      lostNotification: 0,
    },
    // Top-ups follow from it: from most requests served to nearly none.
    requestEveryMs,
    isCalledInTurn: true,
    upstreamMs: 400,
    topUp: 60_000,
    minimum: 0n,
    largestHold: 20_000,
  })

describe('finding M18: requests of a balance that is nearly used up', () => {
  for (const roundTripMs of [0.5, 80]) {
    for (const nodes of [2, 3, 4, 5]) {
      test(`have a verdict within a second and ten round trips: ${nodes} nodes, ${roundTripMs} ms`, () => {
        const sums = { requests: 0, served: 0, refused: 0, leaseStatements: 0 }
        for (const requestEveryMs of [100, 600, 4000]) {
          const change = nearlyUsedUp(nodes, roundTripMs, requestEveryMs)
          for (const seed of seeds) {
            const outcome = simulate({ seed, faultyMs: minuteMs, change })
            expect(outcome.violations).toEqual([])
            const { requests, served, refused } = outcome.requests
            sums.requests += requests
            sums.served += served
            sums.refused += refused
            sums.leaseStatements += outcome.leaseStatements
          }
        }
        expect(sums.served).toBeGreaterThan(500)
        expect(sums.refused).toBeGreaterThan(500)
        expect(sums.leaseStatements / sums.requests).toBeLessThan(nodes + 2)
      })
    }
  }
})
