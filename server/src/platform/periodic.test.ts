import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { Periodic } from './periodic'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** Lets what promises have resolved run to its end. */
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

/** Advances time by single intervals of a second, as a run ends in microtasks. */
const passSeconds = async (count: number) => {
  for (let second = 0; second < count; second++) {
    jest.advanceTimersByTime(1000)
    await settle()
  }
}

test('runs once per interval, first after one interval', async () => {
  let runs = 0
  await using _periodic = new Periodic({ intervalMs: 1000, run: () => void (runs += 1) })
  expect(runs).toBe(0)
  await passSeconds(3)
  expect(runs).toBe(3)
})

test('never runs twice at once, and runs again once the slow run has ended', async () => {
  const started: PromiseWithResolvers<void>[] = []
  const run = () => {
    const next = Promise.withResolvers<void>()
    started.push(next)
    return next.promise
  }
  const periodic = new Periodic({ intervalMs: 1000, run })
  await passSeconds(5)
  expect(started).toHaveLength(1)
  started[0]?.resolve()
  await settle()
  await passSeconds(1)
  expect(started).toHaveLength(2)
  periodic.stop()
})

test('reports each failure, of a promise or thrown at once, and goes on', async () => {
  const errors: unknown[] = []
  const failures = [
    () => Promise.reject(new Error('later')),
    () => {
      throw new Error('at once')
    },
  ]
  let runs = 0
  const periodic = new Periodic({
    intervalMs: 1000,
    run: () => failures[runs++]?.(),
    onError: (error) => errors.push(String(error)),
  })
  await passSeconds(3)
  expect(errors).toEqual(['Error: later', 'Error: at once'])
  expect(runs).toBe(3)
  periodic.stop()
})

test('runs no more once stopped, and does not report the run that the stop interrupts', async () => {
  const errors: unknown[] = []
  const running = Promise.withResolvers<void>()
  let runs = 0
  const periodic = new Periodic({
    intervalMs: 1000,
    run: () => {
      runs += 1
      return running.promise
    },
    onError: (error) => errors.push(error),
  })
  await passSeconds(1)
  periodic.stop()
  running.reject(new Error('the connection was closed'))
  await passSeconds(3)
  expect([runs, errors]).toEqual([1, []])
})

test('disposing waits for the run that goes on', async () => {
  const running = Promise.withResolvers<void>()
  const periodic = new Periodic({ intervalMs: 1000, run: () => running.promise })
  await passSeconds(1)
  let isDisposed = false
  const disposing = periodic[Symbol.asyncDispose]().then(() => (isDisposed = true))
  await settle()
  expect(isDisposed).toBe(false)
  running.resolve()
  await disposing
  expect(isDisposed).toBe(true)
})
