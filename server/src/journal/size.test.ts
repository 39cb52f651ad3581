import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Journal } from './journal'
import { nodeFileSystem } from './file-system'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Nothing here is about power cuts. */
const openJournal = () =>
  Journal.open({
    directory,
    sync: 'always',
    fileSystem: { ...nodeFileSystem, sync: async () => undefined },
  })

const fileNames = () => readdirSync(directory)
const fileBytes = () =>
  fileNames().reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)

test('takes less than 10 MB after 100,000 events', async () => {
  const text = 'x'.repeat(800)
  {
    await using journal = await openJournal()
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
  expect(fileNames()).toHaveLength(1)
  expect(fileBytes()).toBeLessThan(100)
})

test('C10: reads back more rows than it keeps in memory, in order and in constant memory', async () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => `att_${index}`)
  const body = 'x'.repeat(1000)
  {
    await using journal = await openJournal()
    for (let at = 0; at < ids.length; at += 500) {
      await Promise.all(ids.slice(at, at + 500).map((id) => journal.settle(id, `${id} ${body}`)))
    }
  }
  expect(fileNames().length).toBeGreaterThan(8)
  await using journal = await openJournal()
  expect(journal.size).toBe(ids.length)
  const found: string[] = []
  for (let batch = 0; journal.size > 0; batch++) {
    // What comes meanwhile is behind what is there.
    if (batch === 3) await journal.settle('att_late', `att_late ${body}`)
    const rows = journal.settled(700)
    for (const row of rows) {
      found.push(row.attemptId)
      expect(row.body).toBe(`${row.attemptId} ${body}`)
    }
    await journal.drop(rows.map(({ seq }) => seq))
  }
  expect(found).toEqual([...ids, 'att_late'])
  await journal.settle('att_last', 'last')
  expect(fileNames().length).toBeLessThan(5)
})
