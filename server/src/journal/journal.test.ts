import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal, type JournalOptions } from './journal'
import { nodeFileSystem, type JournalFileSystem } from './file-system'
import type { Damage } from './replay'
import { TestClock } from '../../testing/clock'
import { badDisk } from '../../testing/journal/bad-disk'

let directory: string
let damages: Damage[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  damages = []
})
afterEach(() => rmSync(directory, { recursive: true }))

const openJournal = (options: Partial<JournalOptions> = {}) =>
  Journal.open({
    directory,
    sync: 'always',
    onDamage: (damage) => void damages.push(damage),
    ...options,
  })

const failure = (code: string) => Object.assign(new Error(code), { code })

const bodies = (journal: Journal) => journal.settled(1000).map(({ body }) => body)
const fileNames = () => readdirSync(directory).toSorted()

describe('rows', () => {
  test('returns settled rows until they are dropped, oldest first', async () => {
    await using journal = await openJournal()
    await journal.begin('att_1', 'open 1')
    await journal.begin('att_2', 'open 2')
    await journal.settle('att_2', 'second')
    await journal.settle('att_1', 'first')
    expect(bodies(journal)).toEqual(['second', 'first'])
    expect(journal.settled(1).map(({ attemptId }) => attemptId)).toEqual(['att_2'])
    expect(journal.size).toBe(2)
    await journal.drop(journal.settled(1).map(({ seq }) => seq))
    expect(bodies(journal)).toEqual(['first'])
    expect(journal.size).toBe(1)
    expect(journal.settled(0)).toEqual([])
  })

  test('C15: an attempt left open is an orphan of the next start, with its latest record', async () => {
    {
      await using journal = await openJournal()
      await Promise.all([journal.begin('att_1', 'opened'), journal.begin('att_2', 'opened')])
      await journal.begin('att_1', 'asked again')
      await journal.settle('att_2', 'done')
      expect(journal.orphans()).toEqual([])
    }
    await using journal = await openJournal()
    await journal.begin('att_4', 'of this start')
    const orphans = journal.orphans()
    expect(orphans).toEqual([{ attemptId: 'att_1', body: 'asked again' }])
    await journal.settle('att_1', 'orphan')
    expect(journal.orphans()).toEqual([])
    expect(bodies(journal)).toEqual(['done', 'orphan'])
  })

  test('a closed journal writes the accepted rows, and rejects further changes', async () => {
    // It stands still: closing waits neither for the next batch nor for others that may settle.
    const journal = await openJournal({ sync: 'batch', clock: new TestClock() })
    await journal.settle('att_0', 'before')
    const taken = journal.settle('att_1', 'taken')
    await journal.close()
    await taken
    await expect(journal.begin('att_2', '')).rejects.toMatchObject({ reason: 'closed' })
    await using again = await openJournal()
    expect(bodies(again)).toEqual(['before', 'taken'])
  })

  test('drops only the oldest rows, also twice; rejects a record with a newline', async () => {
    await using journal = await openJournal()
    await Promise.all(['att_1', 'att_2', 'att_3'].map((id) => journal.settle(id, id)))
    const seqs = journal.settled(3).map(({ seq }) => seq)
    await expect(journal.drop(seqs.slice(1))).rejects.toThrow('only the oldest')
    await Promise.all([journal.drop(seqs.slice(0, 1)), journal.drop(seqs.slice(0, 2))])
    expect(bodies(journal)).toEqual(['att_3'])
    await expect(journal.settle('att_4', 'two\nlines')).rejects.toThrow('one line')
    await expect(journal.begin('att_4', 'two\nlines')).rejects.toThrow('one line')
  })

  test('numbers of rows rise, and stay the same after reopening', async () => {
    const seen: number[] = []
    for (let start = 0; start < 5; start++) {
      await using journal = await openJournal()
      expect(journal.settled(10).map(({ seq }) => seq)).toEqual(seen)
      await journal.settle(`att_${start}`, 'settled')
      const seqs = journal.settled(10).map(({ seq }) => seq)
      expect(seqs.slice(0, -1)).toEqual(seen)
      expect(seqs.at(-1)).toBeGreaterThan(seen.at(-1) ?? 0)
      seen.push(seqs.at(-1) ?? 0)
    }
  })
})

describe('a bad disk', () => {
  test('C08: confirms nothing after a failed sync, and never syncs again', async () => {
    const { state, fileSystem } = badDisk()
    const failures: unknown[] = []
    const journal = await openJournal({
      fileSystem,
      onFailure: (cause) => void failures.push(cause),
    })
    await journal.begin('att_1', 'open')
    await journal.settle('att_0', 'before')
    const before = state.syncs
    state.syncError = failure('EIO')
    const lost = await Promise.allSettled(
      ['att_1', 'att_2'].map((id) => journal.settle(id, 'lost')),
    )
    const refusal = { status: 'rejected', reason: { reason: 'failed', cause: { code: 'EIO' } } }
    expect(lost).toMatchObject([refusal, refusal])
    state.syncError = undefined
    await expect(journal.begin('att_3', 'open')).rejects.toThrow('its disk did not confirm a write')
    await expect(journal.settle('att_1', 'again')).rejects.toMatchObject({ reason: 'failed' })
    expect(state.syncs).toBe(before + 1)
    expect(failures).toEqual([journal.failure])
    // What was confirmed can still be booked while the process drains.
    const [first] = journal.settled(1)
    expect(first?.body).toBe('before')
    await journal.drop([first?.seq ?? 0])
    expect(journal.settled(10).map(({ attemptId }) => attemptId)).toEqual(['att_1', 'att_2'])
    expect(journal.size).toBe(2)
    const left = fileNames().map((name) => readFileSync(join(directory, name)))
    await journal.close()
    expect(state.syncs).toBe(before + 1)
    expect(fileNames().map((name) => readFileSync(join(directory, name)))).toEqual(left)
  })

  test('C08: fails at the first failed sync in batch mode as well', async () => {
    const { state, fileSystem } = badDisk()
    const { promise: failed, resolve } = Promise.withResolvers<unknown>()
    const journal = await openJournal({ fileSystem, sync: 'batch', onFailure: resolve })
    state.syncError = failure('EIO')
    await journal.settle('att_1', 'written')
    expect(await failed).toMatchObject({ code: 'EIO' })
    await expect(journal.settle('att_2', 'late')).rejects.toMatchObject({ reason: 'failed' })
    await journal.close()
  })

  test('C07: rejects writes on a full disk, loses nothing, and recovers by itself', async () => {
    const { state, fileSystem } = badDisk()
    await using journal = await openJournal({ fileSystem })
    await journal.begin('att_1', 'open')
    await journal.settle('att_0', 'before')
    state.writeError = failure('ENOSPC')
    await expect(journal.begin('att_2', 'open')).rejects.toMatchObject({
      reason: 'unwritten',
      cause: { code: 'ENOSPC' },
    })
    await expect(journal.settle('att_1', 'lost')).rejects.toMatchObject({ reason: 'unwritten' })
    expect(journal.failure).toBeUndefined()
    expect(bodies(journal)).toEqual(['before'])
    state.writeError = undefined
    await journal.settle('att_1', 'after')
    expect(bodies(journal)).toEqual(['before', 'after'])
  })

  test('C14: a sync that takes long delays settlements, not new attempts', async () => {
    const { state, fileSystem } = badDisk()
    await using journal = await openJournal({ fileSystem })
    await journal.begin('att_0', 'open')
    const release = Promise.withResolvers<void>()
    state.held = release.promise
    let settled = 0
    const settlements = [1, 2, 3].map(async (index) => {
      await journal.settle(`att_${index}`, 'settled')
      settled += 1
    })
    for (let index = 0; index < 200; index++) await journal.begin(`att_b${index}`, 'open')
    expect(settled).toBe(0)
    release.resolve()
    await Promise.all(settlements)
    expect(settled).toBe(3)
  })
})

test('fails when its file is removed while it runs; confirmed rows can still be booked', async () => {
  const failures: unknown[] = []
  const journal = await openJournal({ onFailure: (cause) => void failures.push(cause) })
  await journal.settle('att_1', 'settled')
  for (const name of fileNames()) rmSync(join(directory, name))
  const body = 'x'.repeat(500_000)
  const settlements = Array.from({ length: 8 }, (_, index) => journal.settle(`att_b${index}`, body))
  expect((await Promise.allSettled(settlements)).map(({ status }) => status)).toContain('rejected')
  await journal.close()
  expect(failures).toHaveLength(1)
  expect(bodies(journal)).toEqual(['settled'])
})

test('C07: keeps nothing of a write for which the disk has too little room', async () => {
  let attempts = 0
  // With crash points a group is written in two parts.
  const write: JournalFileSystem['write'] = (...given) => {
    attempts += 1
    if (attempts === 5) throw failure('ENOSPC')
    return nodeFileSystem.write(...given)
  }
  {
    const fileSystem = { ...nodeFileSystem, write }
    await using journal = await openJournal({ fileSystem, crashAt: () => undefined })
    await journal.settle('att_1', 'before')
    // Whole lines in the half that is written, more than the next write covers.
    const refused = [10, 20, 30, 5000].map((length) => journal.settle('att_2', 'x'.repeat(length)))
    const results = await Promise.allSettled(refused)
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    expect(attempts).toBe(5)
    await journal.settle('att_4', 'after')
    expect(bodies(journal)).toEqual(['before', 'after'])
  }
  await using again = await openJournal()
  expect(bodies(again)).toEqual(['before', 'after'])
  expect(damages).toEqual([])
})

describe('groups', () => {
  test('a thousand settlements of one tick share one sync', async () => {
    const { state, fileSystem } = badDisk()
    await using journal = await openJournal({ fileSystem })
    const before = state.syncs
    const attempts = Array.from({ length: 1000 }, (_, index) => `att_${index}`)
    await Promise.all(attempts.map((id) => journal.settle(id, id)))
    expect(state.syncs).toBe(before + 1)
    expect(bodies(journal)).toEqual(attempts)
  })

  test('passes the crash points in order', async () => {
    const points: string[] = []
    await using journal = await openJournal({ crashAt: (point) => void points.push(point) })
    expect(points).toEqual([])
    await journal.begin('att_1', 'open')
    points.length = 0
    await journal.settle('att_1', 'settled')
    expect(points).toEqual(['before-journal', 'mid-group-commit', 'after-journal'])
    points.length = 0
    await journal.drop(journal.settled(1).map(({ seq }) => seq))
    await journal.settle('att_2', 'x'.repeat(2_500_000))
    await journal.settle('att_3', 'settled')
    expect(points).toContain('before-truncate')
  })
})

test('syncs a single settlement at once', async () => {
  const { state, fileSystem } = badDisk()
  // It stands still: with company, every 64th would wait until 4 ms after the sync before.
  const clock = new TestClock()
  await using journal = await openJournal({ fileSystem, clock })
  for (let index = 0; index < 130; index++) {
    await journal.begin(`att_${index}`, 'open')
    const before = state.syncs
    await journal.settle(`att_${index}`, 'settled')
    expect(state.syncs).toBe(before + 1)
  }
})
