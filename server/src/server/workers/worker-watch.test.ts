import { expect, test } from 'bun:test'
import { WorkerWatch } from './worker-watch'

function watchWith(bounds: { maxSilent: number; maxStarting: number }) {
  const hung: string[] = []
  const watch = new WorkerWatch({ ...bounds, onHung: () => hung.push('hung') })
  const check = (times: number) => {
    for (let time = 0; time < times; time++) watch.check()
  }
  return { watch, check, hung }
}

test('a worker that sends nothing for as many checks hangs, reported once', () => {
  const { watch, check, hung } = watchWith({ maxSilent: 3, maxStarting: 10 })
  using _watch = watch
  watch.onListening()
  check(2)
  watch.onMessage()
  check(2)
  expect(hung).toEqual([])
  check(1)
  expect(hung).toEqual(['hung'])
})

test('a worker that starts has more time', () => {
  const { watch, check, hung } = watchWith({ maxSilent: 3, maxStarting: 10 })
  using _watch = watch
  check(9)
  expect(hung).toEqual([])
  check(1)
  expect(hung).toEqual(['hung'])
})
