import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal } from './journal'
import { nodeFileSystem, type JournalFileSystem } from './file-system'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const openJournal = (fileSystem: JournalFileSystem) =>
  Journal.open({ directory, sync: 'always', fileSystem })

/** A disk whose next syncs and writes are what a test says. */
function badDisk() {
  const state: { writeError?: Error | undefined; syncError?: Error | undefined } = {}
  const disk: JournalFileSystem = {
    ...nodeFileSystem,
    sync: (fd, kind) =>
      state.syncError ? Promise.reject(state.syncError) : nodeFileSystem.sync(fd, kind),
    write(fd, bytes, offset) {
      if (state.writeError) throw state.writeError
      return nodeFileSystem.write(fd, bytes, offset)
    },
  }
  return { state, disk }
}

const failure = (code: string) => Object.assign(new Error(code), { code })
const bodies = (journal: Journal) => journal.settled(1000).map(({ body }) => body)

test('M4: reports whether it is writable, and notices by itself when it is again', async () => {
  const { state, disk } = badDisk()
  const journal = await openJournal(disk)
  await journal.begin('att_1', 'open')
  await journal.settle('att_0', 'before')
  expect(await journal.isWritable()).toBe(true)
  state.writeError = failure('ENOSPC')
  await expect(journal.begin('att_2', 'open')).rejects.toMatchObject({ reason: 'unwritten' })
  expect(await Promise.all([journal.isWritable(), journal.isWritable()])).toEqual([false, false])
  expect(await journal.isWritable()).toBe(false)
  state.writeError = undefined
  expect(await Promise.all([journal.isWritable(), journal.isWritable()])).toEqual([true, true])
  // What was there is there still, and nothing else.
  expect(bodies(journal)).toEqual(['before'])
  await journal[Symbol.asyncDispose]()
  await using again = await openJournal(disk)
  expect(bodies(again)).toEqual(['before'])
  expect(again.orphans()).toEqual([{ attemptId: 'att_1', body: 'open' }])
})

test('M4: a failed sync is final', async () => {
  const { state, disk } = badDisk()
  await using journal = await openJournal(disk)
  state.syncError = failure('EIO')
  await expect(journal.settle('att_0', 'lost')).rejects.toMatchObject({ reason: 'failed' })
  state.syncError = undefined
  expect(await journal.isWritable()).toBe(false)
})
