import { describe, expect, test } from 'bun:test'
import { failureOf, runOf } from './fixture'
import { filesToRerun, judge, maxReruns } from './outcome'
import { isTimeOut, maxUnsteadyFiles } from './verdict'

const timedOut = (file: string) => failureOf({ file, type: 'TimeoutError', text: 'test timed out' })
const passedIn = (run: ReturnType<typeof runOf>, ...files: string[]) =>
  new Map([[run, new Set(files)]])

describe('a failure that a slow machine explains', () => {
  test.each([
    ['the time-out of the runner', { type: 'TimeoutError', text: 'test timed out' }, true],
    ['a wait that was given up', { type: 'WaitTimeoutError', text: 'not within 30 s' }, true],
    ['a port in use', { type: 'Error', text: 'Error: listen EADDRINUSE 127.0.0.1:1' }, true],
    ['another error', { type: 'TypeError', text: 'x is not a function' }, false],
    ['a wrong expect', { type: 'AssertionError', text: 'expect(received)' }, false],
    [
      'a wrong expect about a time-out',
      { type: 'AssertionError', text: 'Received: "WaitTimeoutError, EADDRINUSE"' },
      false,
    ],
  ])('%s', (_name, failure, expected) => {
    expect(isTimeOut(failure)).toBe(expected)
  })
})

test('a double booking in one of many runs is red, and does not run again', () => {
  const run = runOf([failureOf({ test: 'run 37 of 50: one booking for each attempt' })])
  expect(filesToRerun([run])).toEqual([])
  expect(judge([run], passedIn(run, 'tests/a.test.ts'))).toMatchObject({
    isGreen: false,
    failed: 1,
  })
})

test('a file with a time-out and a wrong expect is red, and does not run again', () => {
  const run = runOf([timedOut('tests/a.test.ts'), failureOf()])
  expect(filesToRerun([run])).toEqual([])
  expect(judge([run], new Map())).toMatchObject({ isGreen: false, failed: 2 })
})

test('a time-out that passes alone is unsteady and green; its tests count as passed', () => {
  const run = runOf([timedOut('tests/b.test.ts')])
  expect(filesToRerun([run])).toEqual([{ run, file: 'tests/b.test.ts' }])
  const outcome = judge([run], passedIn(run, 'tests/b.test.ts'))
  expect(outcome).toMatchObject({ isGreen: true, passed: 101, failed: 0 })
  expect([...(outcome.stages[0]?.unsteady.keys() ?? [])]).toEqual(['tests/b.test.ts'])
})

test('a time-out that fails alone, too, is red', () => {
  const run = runOf([timedOut('tests/b.test.ts')])
  expect(judge([run], new Map())).toMatchObject({ isGreen: false, passed: 100, failed: 1 })
})

test('errors of hooks after a hook that timed out follow from it', () => {
  const hook = { file: 'tests/b.test.ts', test: 'nodes > (unnamed)' }
  const run = runOf([
    failureOf({ ...hook, type: 'TimeoutError', text: 'hook timed out' }),
    failureOf({ ...hook, type: 'TypeError', text: 'undefined is not an object' }),
  ])
  expect(filesToRerun([run])).toHaveLength(1)
})

test('more unsteady files than allowed are red', () => {
  const files = Array.from({ length: maxUnsteadyFiles + 1 }, (_, at) => `tests/${at}.test.ts`)
  const run = runOf(files.map(timedOut))
  expect(judge([run], passedIn(run, ...files))).toMatchObject({ isGreen: false, passed: 100 })
  expect(judge([run], passedIn(run, ...files)).failed).toBe(maxUnsteadyFiles + 1)
})

test('a machine on which everything times out runs nothing again', () => {
  const files = Array.from({ length: maxReruns + 1 }, (_, at) => `tests/${at}.test.ts`)
  expect(filesToRerun([runOf(files.map(timedOut))])).toEqual([])
})
