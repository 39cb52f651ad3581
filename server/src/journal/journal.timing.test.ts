import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal, type JournalOptions } from './journal'
import { recordFigure, recordTimeFigure } from '../../testing/figures'
import { badDisk } from '../../testing/journal/bad-disk'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const openJournal = (options: Partial<JournalOptions> = {}) =>
  Journal.open({ directory, sync: 'always', ...options })

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

test('a journal closes soon', async () => {
  const journal = await openJournal({ sync: 'batch' })
  const taken = journal.settle('att_1', 'taken')
  await recordTimeFigure('closing', { atMost: 500 }, () => Promise.all([journal.close(), taken]))
})

test('C14: a sync that takes long delays neither the event loop nor new attempts', async () => {
  const { state, fileSystem } = badDisk()
  await using journal = await openJournal({ fileSystem })
  await journal.begin('att_0', 'open')
  const release = Promise.withResolvers<void>()
  state.held = release.promise
  const settlement = journal.settle('att_1', 'settled')
  const turns: number[] = []
  const begins: number[] = []
  for (let index = 0; index < 200; index++) {
    const turn = performance.now()
    await Bun.sleep(1)
    const begun = performance.now()
    await journal.begin(`att_b${index}`, 'open')
    turns.push(begun - turn)
    begins.push(performance.now() - begun)
  }
  release.resolve()
  await settlement
  const bound = { unit: 'ms', atMost: 50 }
  recordFigure('p99 of a timer of 1 ms during a sync', quantile(turns, 0.99), bound)
  recordFigure('p99 of a begin during a sync', quantile(begins, 0.99), bound)
})

test('a single settlement is on disk at once', async () => {
  const { state, fileSystem } = badDisk()
  await using journal = await openJournal({ fileSystem })
  const slow: number[] = []
  for (let index = 0; index < 20; index++) {
    await journal.begin(`att_${index}`, 'open')
    const before = state.syncs
    const startedAt = performance.now()
    await journal.settle(`att_${index}`, 'settled')
    slow.push(performance.now() - startedAt)
    expect(state.syncs).toBe(before + 1)
  }
  // With company each would wait until 4 ms after the sync before.
  const quartileMs = quantile(slow, 0.25)
  recordFigure('quartile of 20 lone settlements', quartileMs, { unit: 'ms', atMost: 3 })
})
