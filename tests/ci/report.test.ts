import { expect, test } from 'bun:test'
import { failureOf, runOf, stageOf } from './fixture'
import { judge } from './outcome'
import { maxReportLines, writeReport } from './report'
import type { StageRun } from './run-stage'

const reportOf = (runs: readonly StageRun[]) =>
  writeReport(judge(runs, new Map()), { commit: 'abc1234', seconds: 1830, logs: 'dist/ci' })

const longText = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n')

test('a green run ends in its counts, on a line of their own', () => {
  const lines = reportOf([runOf([])]).split('\n')
  expect(lines[0]).toBe('# CI: green after 30 min 30 s, commit abc1234')
  expect(lines.at(-1)).toBe('100 passed, 0 failed')
})

test('failures of two stages are both named in at most 60 lines, with their first assertion', () => {
  const runs = [
    runOf([failureOf({ test: 'books once', text: longText })]),
    runOf([failureOf({ test: 'answers', text: longText })], { stage: stageOf({ name: 'faults' }) }),
  ]
  const report = reportOf(runs)
  expect(report.split('\n').length).toBeLessThanOrEqual(maxReportLines)
  expect(report).toContain('(fail) test: tests/a.test.ts: books once\n    line 0')
  expect(report).toContain('(fail) faults: tests/a.test.ts: answers\n    line 0')
  expect(report).toContain('200 passed, 2 failed')
})

test('a stage that is wholly red hides no failure of another, and the rest is counted', () => {
  const many = Array.from({ length: 300 }, (_, at) => failureOf({ test: `test ${at}` }))
  const one = runOf([failureOf({ test: 'the one of faults' })], {
    stage: stageOf({ name: 'faults' }),
  })
  const report = reportOf([runOf(many), one])
  expect(report.split('\n').length).toBeLessThanOrEqual(maxReportLines)
  expect(report).toContain('the one of faults')
  expect(report).toMatch(/… and \d+ more/)
})

test('a stage that did not end is red, with its last lines', () => {
  const run = runOf([], { problems: ['it did not end within 1 minutes'], tail: 'still at it' })
  const report = reportOf([run])
  expect(report).toContain(
    '(fail) test: it did not end within 1 minutes; its last lines:\n    still at it',
  )
  expect(report).toContain('100 passed, 1 failed')
})
