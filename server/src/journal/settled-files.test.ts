import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFileSystem } from './file-system'
import { Journal } from './journal'
import { retainedPath, segmentPath } from './segment'
import { readSettledFiles } from './settled-files'

const directories: string[] = []
afterEach(() => {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true })
})

async function directoryWith(bodies: readonly string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  directories.push(directory)
  for (const body of bodies) {
    await using journal = await Journal.open({ directory, sync: 'always' })
    await journal.settle(`att_${body}`, body)
  }
  return directory
}

test('reads the newest file first, booked or not', async () => {
  const directory = await directoryWith(['one', 'two', 'three'])
  const files = await Array.fromAsync(readSettledFiles(directory))
  expect(files.flatMap(({ bodies }) => bodies)).toEqual(['three', 'two', 'one'])
  const modified = readdirSync(directory).map((name) => statSync(join(directory, name)).mtimeMs)
  expect(modified).toEqual(expect.arrayContaining(files.map(({ modifiedMs }) => modifiedMs)))
})

test('finds a file that its journal renames meanwhile, and leaves out a deleted one', async () => {
  const directory = await directoryWith(['one', 'two', 'three'])
  const [first, ...others] = nodeFileSystem
    .list(directory)
    .map((name) => Number(/^journal-(\d+)/.exec(name)?.[1]))
    .toSorted((a, b) => b - a)
  let isFirst = true
  const read = (path: string) => {
    if (isFirst) {
      isFirst = false
      const [renamed = 0, removed = 0] = [first, others[0]]
      renameSync(segmentPath(directory, renamed), retainedPath(directory, renamed))
      rmSync(segmentPath(directory, removed))
    }
    return readFileSync(path)
  }
  const files = await Array.fromAsync(
    readSettledFiles(directory, { ...nodeFileSystem, readFile: read }),
  )
  expect(files.flatMap(({ bodies }) => bodies)).toEqual(['three', 'one'])
})
