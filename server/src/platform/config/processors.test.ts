import { expect, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { processorsOf, usableProcessors, usualWorkers } from './processors'
import { readConfig } from './config'

test.each([
  ['200000 100000', 2],
  ['250000 100000\n', 2],
  ['50000 100000', 1],
  ['max 100000', Infinity],
  ['-1 100000', Infinity],
  ['', Infinity],
])('a quota of %p allows %p processors', (quota, processors) => {
  expect(processorsOf(quota)).toBe(processors)
})

test('with four processors or more a process runs on each, unless WORKERS says otherwise', () => {
  const onLinux = [1, 2, 3, 4, 64].map((processors) => usualWorkers(processors, 'linux'))
  expect(onLinux).toEqual([1, 1, 1, 'auto', 'auto'])
  expect(usualWorkers(64, 'darwin')).toBe(1)
  expect(readConfig({})).toMatchObject({
    workers: usualWorkers(usableProcessors()) === 1 ? 1 : Math.min(64, usableProcessors()),
  })
  expect(readConfig({ WORKERS: '3' }).workers).toBe(3)
})

test('WORKERS=auto is the number of processors that may be used', () => {
  expect(usableProcessors()).toBeGreaterThanOrEqual(1)
  expect(usableProcessors()).toBeLessThanOrEqual(availableParallelism())
  expect(readConfig({ WORKERS: 'auto' }).workers).toBe(Math.min(64, usableProcessors()))
})
