import { describe, expect, test } from 'bun:test'
import type { Figure } from '../../server/testing/figures'
import { isSteady } from './calibration'
import { countVerdicts, writeReport } from './report'
import { addAttempt, isDecided, judge, type Attempts } from './verdict'

const figure: Figure = {
  file: 'tests/a.test.ts',
  name: 'p99 beside an outage',
  unit: 'ms',
  value: 0,
  atMost: 100,
}
const attemptsOf = (...values: number[]): Attempts => ({ figure, values })

const beyond = [110, 120, 101, 130, 140] as const

describe('a figure', () => {
  test.each([
    { is: 'within its bound once', values: [90], isSteady: true, verdict: 'held' },
    {
      is: 'beyond it in two of five',
      values: [110, 120, 90, 80, 95],
      isSteady: true,
      verdict: 'held',
    },
    { is: 'beyond it in five of five', values: beyond, isSteady: true, verdict: 'broken' },
    {
      is: 'beyond it in five of five on a machine that changed',
      values: beyond,
      isSteady: false,
      verdict: 'inconclusive',
    },
    {
      is: 'beyond it in four of five',
      values: [110, 120, 101, 90, 140],
      isSteady: true,
      verdict: 'inconclusive',
    },
    { is: 'beyond it in only two', values: [110, 120], isSteady: true, verdict: 'inconclusive' },
  ] as const)('$is: $verdict', ({ values, isSteady: isMachineSteady, verdict }) => {
    expect(judge(attemptsOf(...values), isMachineSteady)).toBe(verdict)
  })

  test('is measured again until its verdict is clear', () => {
    expect(isDecided(attemptsOf(90))).toBe(true)
    expect(isDecided(attemptsOf(110))).toBe(false)
    expect(isDecided(attemptsOf(110, 90, 90, 90))).toBe(true)
    expect(isDecided(attemptsOf(110, 110, 110, 110))).toBe(false)
    expect(isDecided(attemptsOf(110, 110, 110, 110, 110))).toBe(true)
  })

  test('recorded several times counts with its worst value', () => {
    const all = new Map<string, Attempts>()
    addAttempt(
      all,
      [90, 130, 80].map((value) => ({ ...figure, value })),
    )
    addAttempt(all, [{ ...figure, value: 70 }])
    const { atMost: _, ...rest } = figure
    addAttempt(
      all,
      [95, 40].map((value) => ({ ...rest, name: 'rate', atLeast: 50, value })),
    )
    expect([...all.values()].map(({ values }) => values)).toEqual([[130, 70], [40]])
  })
})

const quiet = { spinMs: 30, loopbackUs: 40, stolenPercent: 0 }

test('a machine that slows down, answers later or is stolen from is not steady', () => {
  expect(isSteady([quiet, { ...quiet, spinMs: 33 }])).toBe(true)
  expect(isSteady([quiet, { ...quiet, spinMs: 40 }])).toBe(false)
  expect(isSteady([quiet, { ...quiet, loopbackUs: 70 }])).toBe(false)
  expect(isSteady([quiet, { ...quiet, stolenPercent: 9 }])).toBe(false)
})

test('the report counts verdicts, broken first, and a command that fails is broken', () => {
  const measured = [
    {
      name: 'faults',
      seconds: 60,
      attempts: [attemptsOf(50), attemptsOf(110, 120, 130, 140, 150)],
      calibrations: [quiet, quiet],
      problems: [],
    },
    { name: 'clients', seconds: 9, attempts: [], calibrations: [quiet], problems: ['exit code 1'] },
  ]
  expect(countVerdicts(measured)).toEqual({ held: 1, broken: 2, inconclusive: 0 })
  const report = writeReport(measured, 'abc1234')
  expect(report.indexOf('**broken** |')).toBeLessThan(report.indexOf('held |'))
  expect(report).toEndWith('\n1 held, 2 broken, 0 inconclusive')
})
