import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { findSlow, readSlow } from './slow-files'

test('files that take ten seconds or more are listed with their longest time, the slowest first', () => {
  const slow = findSlow([
    { file: 'a.test.ts', seconds: 12.3 },
    { file: 'b.test.ts', seconds: 3 },
    { file: 'c.test.ts', seconds: 11 },
    { file: 'c.test.ts', seconds: 60.6 },
  ])
  expect(Object.entries(slow)).toEqual([
    ['c.test.ts', 61],
    ['a.test.ts', 12],
  ])
})

test('every listed file exists', async () => {
  const paths = Object.keys(await readSlow())
  expect(paths.filter((path) => !existsSync(join(import.meta.dir, '../..', path)))).toEqual([])
})
