import { expect, test } from 'bun:test'
import { Periodic } from './periodic'
import { settled, TestClock } from '../../testing/clock'

test('runs once per interval, first after one interval', async () => {
  const clock = new TestClock()
  let runs = 0
  await using _periodic = new Periodic({ intervalMs: 1000, run: () => void (runs += 1), clock })
  expect(runs).toBe(0)
  await clock.advance(999)
  expect(runs).toBe(0)
  await clock.advance(2001)
  expect(runs).toBe(3)
})

test('never runs twice at once, and runs again once the slow run has ended', async () => {
  const clock = new TestClock()
  const started: PromiseWithResolvers<void>[] = []
  const run = () => {
    const next = Promise.withResolvers<void>()
    started.push(next)
    return next.promise
  }
  const periodic = new Periodic({ intervalMs: 1000, run, clock })
  await clock.advance(5000)
  expect(started).toHaveLength(1)
  started[0]?.resolve()
  await settled()
  await clock.advance(1000)
  expect(started).toHaveLength(2)
  periodic.stop()
})

test('reports each failure, of a promise or thrown at once, and goes on', async () => {
  const clock = new TestClock()
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
    clock,
  })
  await clock.advance(3000)
  expect(errors).toEqual(['Error: later', 'Error: at once'])
  expect(runs).toBe(3)
  periodic.stop()
})

test('does not run after a stop, and does not report the run that the stop interrupts', async () => {
  const clock = new TestClock()
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
    clock,
  })
  await clock.advance(1000)
  periodic.stop()
  running.reject(new Error('the connection was closed'))
  await clock.advance(3000)
  expect([runs, errors]).toEqual([1, []])
})

test('disposing waits for the run that goes on', async () => {
  const clock = new TestClock()
  const running = Promise.withResolvers<void>()
  const periodic = new Periodic({ intervalMs: 1000, run: () => running.promise, clock })
  await clock.advance(1000)
  let isDisposed = false
  const disposing = periodic[Symbol.asyncDispose]().then(() => (isDisposed = true))
  await settled()
  expect(isDisposed).toBe(false)
  running.resolve()
  await disposing
  expect(isDisposed).toBe(true)
})
