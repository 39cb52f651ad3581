import { expect } from 'bun:test'
import { overshootOf, toleratedOvershoot } from './limits-observer'
import type { LimitOutcome } from './limits-world'

/** Checks that nodes admitted something, and never more than the limit, and the shares of nodes without a slice. */
export function expectKeptLimit(outcome: LimitOutcome): void {
  const { seed } = outcome.profile
  expect(outcome.decisions.some(({ isAdmitted }) => isAdmitted)).toBe(true)
  const beyond = Math.max(0, overshootOf(outcome) - toleratedOvershoot(outcome))
  expect({ seed, beyond }).toEqual({ seed, beyond: 0 })
}
