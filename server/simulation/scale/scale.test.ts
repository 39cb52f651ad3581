import { beforeAll, describe, expect, test } from 'bun:test'
import { recoveryOf } from './loss-report'
import { fullScale, type ScaleProfile } from './profile'
import { reportScale } from './report'
import { phases, simulateScale, type ScaleOutcome } from './scale-world'

const small: ScaleProfile = {
  ...fullScale,
  nodes: 6,
  accounts: 300,
  requestsPerSecond: 40,
  warmUpMs: 2000,
  measuredMs: 8000,
}

const requestsOf = (outcome: ScaleOutcome, region: number) =>
  phases.reduce((sum, phase) => sum + (outcome.traffic[phase][region]?.requests ?? 0), 0)

describe('six nodes in three regions, 300 accounts, the last region without power for 150 s', () => {
  let outcome: ScaleOutcome

  beforeAll(() => {
    outcome = simulateScale(small)
  })

  test('no account is overspent, no limit is exceeded, and all is returned at the end', () => {
    expect(outcome.promises.found).toEqual([])
    expect(outcome.overshoots).toEqual([])
  })

  test('every answered request is booked once, also from the disks of the lost region', () => {
    expect(outcome.delivered).toBeGreaterThan(5000)
    expect(outcome.promises.broken.has('not booked')).toBe(false)
  })

  test('requests of all regions are answered', () => {
    for (const region of [0, 1, 2]) expect(requestsOf(outcome, region)).toBeGreaterThan(50)
    expect(outcome.unanswered).toBe(0)
  })

  test('the region had leases and slices, and the others recover within two and a half minutes', () => {
    const { stranded, strandedUnits } = outcome.loss ?? {}
    expect(stranded?.amounts.sum).toBeGreaterThan(0)
    expect(strandedUnits?.requests.amounts.sum).toBeGreaterThan(0)
    const recovery = recoveryOf(outcome)
    expect(recovery?.leasesMs).toBeGreaterThan(60_000)
    expect(recovery?.leasesMs).toBeLessThan(150_000)
    expect(recovery?.limitsMs).toBeLessThan(110_000)
    expect(recovery?.failuresMs).toBeLessThan(15_000)
    expect(recovery?.slownessMs).toBeLessThan(15_000)
  })

  test('a seed has the same figures each time', () => {
    expect(reportScale(simulateScale(small))).toBe(reportScale(outcome))
  })
})

describe('six nodes in three regions, the last region cut off for 150 s', () => {
  let outcome: ScaleOutcome

  beforeAll(() => {
    outcome = simulateScale({ ...small, loss: 'cut off' })
  })

  test('no account is overspent, and every answered request is booked once', () => {
    expect(outcome.promises.found).toEqual([])
    expect(outcome.delivered).toBeGreaterThan(5000)
    expect(outcome.unbooked).toBe(0n)
  })

  test('its nodes exceed a limit by at most their equal share of it', () => {
    for (const { units, limit } of outcome.overshoots) {
      expect(units).toBeLessThanOrEqual(Math.ceil(limit / 3))
    }
  })
})

test('requests far from the database and from the store of limits wait for round trips, near ones do not', () => {
  const { loss: _, ...whole } = small
  const [near, far] = simulateScale({ ...whole, measuredMs: 30_000, lostMs: 0 }).traffic.measured
  expect(near?.waits.percentile(0.99)).toBeLessThan(20)
  expect(far?.waits.percentile(0.9)).toBeGreaterThan(80)
})
