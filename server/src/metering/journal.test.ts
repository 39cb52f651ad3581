import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realDisk, type JournalDisk } from './journal-disk'
import { Journal, type JournalOptions } from './journal'
import type { Damage } from './journal-recovery'

let directory: string
let path: string
let damages: Damage[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  path = join(directory, 'journal.sqlite')
  damages = []
})
afterEach(() => rmSync(directory, { recursive: true }))

const openJournal = (options: Partial<JournalOptions> = {}) =>
  Journal.open({
    path,
    sync: 'always',
    onDamage: (damage) => void damages.push(damage),
    ...options,
  })

/** A disk whose next syncs and writes are what a test says. */
function badDisk() {
  const state = {
    syncs: 0,
    writeError: undefined as Error | undefined,
    syncError: undefined as Error | undefined,
    syncMs: 0,
  }
  const disk: JournalDisk = {
    async sync(fd) {
      state.syncs += 1
      if (state.syncMs > 0) await Bun.sleep(state.syncMs)
      if (state.syncError) throw state.syncError
      await realDisk.sync(fd)
    },
    write() {
      if (state.writeError) throw state.writeError
    },
  }
  return { state, disk }
}

const failure = (code: string) => Object.assign(new Error(code), { code })

const p99 = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN

const bodies = (journal: Journal) => journal.settled(1000).map(({ body }) => body)
const fileBytes = () =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)

describe('rows', () => {
  test('what is settled is there until it is dropped, oldest first', async () => {
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

  test('C15: an attempt that a start left open is an orphan of the next, as it was last begun', async () => {
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

  test('a closed journal refuses, after it wrote what it had taken', async () => {
    const journal = await openJournal({ sync: 'batch' })
    const taken = journal.settle('att_1', 'taken')
    const startedAt = performance.now()
    await journal.close()
    await taken
    expect(performance.now() - startedAt).toBeLessThan(500)
    await expect(journal.begin('att_2', '')).rejects.toMatchObject({ reason: 'closed' })
    await using again = await openJournal()
    expect(bodies(again)).toEqual(['taken'])
  })

  test('a second process cannot open the file', async () => {
    await using journal = await openJournal()
    await journal.begin('att_1', 'open')
    const source = JSON.stringify(join(import.meta.dir, 'journal.ts'))
    const script = `
      const { Journal } = await import(${source})
      await Journal.open({ path: ${JSON.stringify(path)}, sync: 'always' }).then(
        () => console.log('opened'), (thrown) => console.log(thrown.code))`
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toBe('SQLITE_BUSY\n')
  })
})

describe('a bad disk', () => {
  test('C08: after a failed sync nothing is confirmed, and nothing synced again', async () => {
    const { state, disk } = badDisk()
    const failures: unknown[] = []
    const journal = await openJournal({ disk, onFailure: (cause) => void failures.push(cause) })
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
    const logBytes = statSync(`${path}-wal`).size
    await journal.close()
    expect(state.syncs).toBe(before + 1)
    expect(statSync(`${path}-wal`).size).toBe(logBytes)
  })

  test('C08: in batches, the first sync that fails ends it as well', async () => {
    const { state, disk } = badDisk()
    const { promise: failed, resolve } = Promise.withResolvers<unknown>()
    const journal = await openJournal({ disk, sync: 'batch', onFailure: resolve })
    state.syncError = failure('EIO')
    await journal.settle('att_1', 'written')
    expect(await failed).toMatchObject({ code: 'EIO' })
    await expect(journal.settle('att_2', 'late')).rejects.toMatchObject({ reason: 'failed' })
    await journal.close()
  })

  test('C07: a full disk refuses, loses nothing, and heals by itself', async () => {
    const { state, disk } = badDisk()
    await using journal = await openJournal({ disk })
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

  test('C14: a sync of 500 ms delays settlements, not the event loop nor admissions', async () => {
    const { state, disk } = badDisk()
    await using journal = await openJournal({ disk })
    await journal.begin('att_0', 'open')
    state.syncMs = 500
    const settledAt: number[] = []
    const startedAt = performance.now()
    const settlements = [1, 2, 3].map(async (index) => {
      await journal.settle(`att_${index}`, 'settled')
      settledAt.push(performance.now() - startedAt)
    })
    const turns: number[] = []
    const begins: number[] = []
    for (let index = 0; performance.now() - startedAt < 450; index++) {
      const turn = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 1))
      const begun = performance.now()
      await journal.begin(`att_b${index}`, 'open')
      turns.push(begun - turn)
      begins.push(performance.now() - begun)
    }
    await Promise.all(settlements)
    expect(Math.min(...settledAt)).toBeGreaterThan(490)
    expect(Math.max(...settledAt)).toBeLessThan(1500)
    expect(p99(turns)).toBeLessThan(50)
    expect(p99(begins)).toBeLessThan(50)
    state.syncMs = 0
  })
})

test('a log that is taken away while it runs is a failure, and what was confirmed can be booked', async () => {
  const { state, disk } = badDisk()
  const failures: unknown[] = []
  const journal = await openJournal({ disk, onFailure: (cause) => void failures.push(cause) })
  await journal.settle('att_1', 'settled')
  rmSync(`${path}-wal`)
  state.writeError = failure('ENOSPC')
  await journal.settle('att_2', 'empties the log').catch(() => undefined)
  await journal.close()
  expect(failures).toHaveLength(1)
  expect(bodies(journal)).toEqual(['settled'])
})

describe('groups', () => {
  test('a thousand settlements of one turn share one sync', async () => {
    const { state, disk } = badDisk()
    await using journal = await openJournal({ disk })
    const before = state.syncs
    const attempts = Array.from({ length: 1000 }, (_, index) => `att_${index}`)
    await Promise.all(attempts.map((id) => journal.settle(id, id)))
    expect(state.syncs).toBe(before + 1)
    expect(bodies(journal)).toEqual(attempts)
  })

  test('the crash points are passed, in order', async () => {
    const points: string[] = []
    await using journal = await openJournal({ crashAt: (point) => void points.push(point) })
    expect(points).toEqual(['before-truncate'])
    await journal.begin('att_1', 'open')
    points.length = 0
    await journal.settle('att_1', 'settled')
    expect(points).toEqual(['before-journal', 'mid-group-commit', 'after-journal'])
  })
})

test('does not grow with history: 100,000 events leave less than 10 MB', async () => {
  const text = 'x'.repeat(800)
  {
    await using journal = await openJournal({ disk: { sync: async () => undefined } })
    for (let round = 0; round < 100; round++) {
      const settlements = Array.from({ length: 1000 }, async (_, index) => {
        await journal.begin(`att_${round}_${index}`, text)
        await journal.settle(`att_${round}_${index}`, text)
      })
      await Promise.all(settlements)
      while (journal.size > 0) await journal.drop(journal.settled(200).map(({ seq }) => seq))
    }
    expect(fileBytes()).toBeLessThan(10_000_000)
  }
  expect(fileBytes()).toBeLessThan(3_000_000)
  expect(existsSync(path)).toBe(true)
}, 60_000)
