import { describe, expect, test } from 'bun:test'
import { grantUnits } from './grant-units'
import { heldMs, slotDeadMs, usedOf, windowDeadMs } from './slice-document'
import type { NodeSlice, SliceDocument } from './slice-document'
import * as fc from '../../../testing/property'

const nowMs = 1_000_000

const slice = (units: number, others: Partial<NodeSlice> = {}): NodeSlice => ({
  units,
  expiring: [],
  running: 0,
  statedAtMs: nowMs,
  pushesUntilMs: 0,
  hasLeft: false,
  ...others,
})

const view = (others: Partial<Parameters<typeof grantUnits>[2]> = {}) => ({
  nowMs,
  node: 'own',
  nodes: 2,
  isDead: () => false,
  isSilent: () => false,
  ...others,
})

const statement = (units: number, needs: readonly number[], limit = 60) => ({
  limit,
  own: slice(units),
  needs,
  mayGrow: true,
})

const idleWith = (other: NodeSlice) =>
  grantUnits({ other }, statement(0, [1]), view()).otherSlices.idle

describe('a slice grows', () => {
  test('by the needs of waiting requests, and an equal part of half of the rest', () => {
    expect(grantUnits({}, statement(0, [1]), view()).units).toBe(1 + 14)
    expect(grantUnits({ other: slice(30) }, statement(10, [1, 2]), view()).units).toBe(12 + 4)
  })

  test('near the limit by single requests', () => {
    const { units, unassigned, missingUnits } = grantUnits(
      { other: slice(57) },
      statement(0, [1]),
      view(),
    )
    expect({ units, unassigned, missing: missingUnits }).toEqual({
      units: 1,
      unassigned: 2,
      missing: 0,
    })
    expect(grantUnits({ other: slice(58) }, statement(1, [1]), view()).units).toBe(2)
  })

  test('by the first requests that fit if not all fit, and reports the shortage of the next one', () => {
    const { units, missingUnits: missing } = grantUnits(
      { other: slice(50) },
      statement(5, [3, 4, 20]),
      view(),
    )
    expect({ units, missing }).toEqual({ units: 9, missing: 15 })
  })

  test('not where nodes have yet to state their slices', () => {
    const grant = grantUnits({}, { ...statement(5, [1]), mayGrow: false }, view())
    expect(grant.units).toBe(5)
  })
})

test('a slice that a store has lost is kept only as far as the other nodes leave it', () => {
  const { units, missingUnits } = grantUnits({ other: slice(50) }, statement(30, [1]), view())
  expect({ units, missing: missingUnits }).toEqual({ units: 10, missing: 21 })
})

describe('a node that', () => {
  const expiring = [
    [nowMs - 1, 4],
    [nowMs + 1000, 6],
  ] as const

  test('has left counts with its used units, until they expire', () => {
    const left = slice(0, { expiring, hasLeft: true })
    const grant = grantUnits({ left }, statement(0, []), view())
    expect(grant.unassigned).toBe(54)
    expect(Object.keys(grant.document)).toEqual(['left'])
    const later = view({ nowMs: nowMs + 1000 })
    expect(grantUnits({ left }, statement(0, []), later).document).toEqual({})
  })

  test('is dead does not count', () => {
    const grant = grantUnits({ dead: slice(60) }, statement(0, [1]), view({ isDead: () => true }))
    expect(grant.units).toBeGreaterThan(0)
    expect(slotDeadMs).toBeGreaterThan(60_000)
    expect(windowDeadMs).toBeGreaterThan(heldMs + 60_000)
  })

  test('may have idle units, unless it has promised to state them', () => {
    expect(idleWith(slice(60, { expiring }))).toBe(60)
    expect(idleWith(slice(60, { expiring, pushesUntilMs: nowMs + 1 }))).toBe(54)
  })
})

test('all slices together never exceed the limit, for any order of statements', () => {
  const step = fc.record({
    node: fc.constantFrom('a', 'b', 'c'),
    kept: fc.double({ min: 0, max: 1, noNaN: true }),
    needs: fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 4 }),
    mayGrow: fc.boolean(),
  })
  const property = fc.property(
    fc.array(step, { maxLength: 40 }),
    fc.integer({ min: 1, max: 100 }),
    (steps, limit) => {
      let document: SliceDocument = {}
      for (const { node, kept, needs, mayGrow } of steps) {
        const own = slice(Math.floor((document[node]?.units ?? 0) * kept))
        const rising = needs.toSorted((a, b) => a - b)
        const before = own.units
        const grant = grantUnits(document, { limit, own, needs: rising, mayGrow }, view({ node }))
        document = grant.document
        expect(grant.units).toBeGreaterThanOrEqual(before)
        const sum = Object.values(document).reduce((all, { units }) => all + units, 0)
        expect(sum).toBeLessThanOrEqual(limit)
        expect(grant.unassigned).toBe(limit - sum)
      }
    },
  )
  fc.assert(property, { numRuns: 5000 })
})

test('expired units are not in use', () => {
  expect(
    usedOf(
      slice(9, {
        expiring: [
          [nowMs, 2],
          [nowMs + 1, 3],
        ],
        running: 4,
      }),
      nowMs,
    ),
  ).toBe(7)
})
