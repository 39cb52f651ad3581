import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { Journal } from './journal'
import type { Damage } from './journal-recovery'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  path = join(directory, 'journal.sqlite')
})
afterEach(() => rmSync(directory, { recursive: true }))

const rowsInDatabase = 40
const rowsInLog = 40
const written = Array.from({ length: rowsInDatabase + rowsInLog }, (_, index) => `att_${index}`)
const bodyOf = (attemptId: string) => `${attemptId} ${'x'.repeat(900)}`

interface Image {
  database: Buffer
  log: Buffer
  open: Buffer
}

/** The files of a process killed now: half of the rows in the database, half in the log. */
async function imageOfRunning(): Promise<Image> {
  const source = join(directory, 'source.sqlite')
  {
    await using first = await Journal.open({ path: source, sync: 'always' })
    for (const id of written.slice(0, rowsInDatabase)) await first.settle(id, bodyOf(id))
  }
  await using second = await Journal.open({ path: source, sync: 'always' })
  await second.begin('att_open', 'open')
  for (const id of written.slice(rowsInDatabase)) await second.settle(id, bodyOf(id))
  // Through other names: closing a descriptor of its file would end the journal's lock.
  Bun.spawnSync(['cp', source, `${source}-copy`])
  Bun.spawnSync(['cp', `${source}-wal`, `${source}-copy-wal`])
  return {
    database: readFileSync(`${source}-copy`),
    log: readFileSync(`${source}-copy-wal`),
    open: readFileSync(`${source}-open`),
  }
}

/** Opens a journal of these bytes, and once more: what was repaired stays so. */
async function opened({ database, log, open }: Partial<Image>) {
  for (const name of readdirSync(directory)) {
    if (name.startsWith('journal')) rmSync(join(directory, name))
  }
  if (database) writeFileSync(path, database)
  if (log) writeFileSync(`${path}-wal`, log)
  if (open) writeFileSync(`${path}-open`, open)
  const damages: Damage[] = []
  const options = { path, sync: 'always' as const, now: () => 1234 }
  const onDamage = (damage: Damage) => void damages.push(damage)
  const read = async () => {
    await using journal = await Journal.open({ ...options, onDamage })
    await journal.settle('att_new', 'new')
    const rows = journal.settled(1000)
    for (const { attemptId, body } of rows) {
      expect(body).toBe(attemptId === 'att_new' ? 'new' : bodyOf(attemptId))
    }
    const ids = rows.map(({ attemptId }) => attemptId).filter((id) => id !== 'att_new')
    await journal.drop(rows.flatMap(({ seq, attemptId }) => (attemptId === 'att_new' ? seq : [])))
    return { ids, orphans: journal.orphans().map(({ attemptId }) => attemptId) }
  }
  const found = await read()
  const reported = damages.length
  expect(await read()).toEqual(found)
  expect(damages).toHaveLength(reported)
  return { ...found, damages }
}

const flipped = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 0x40
  return copy
}

const lostOf = (ids: readonly string[]) => written.filter((id) => !ids.includes(id))

describe('C04: a damaged journal', () => {
  test('whole, it is what it was', async () => {
    const { ids, orphans, damages } = await opened(await imageOfRunning())
    expect(ids).toEqual(written)
    expect(orphans).toEqual(['att_open'])
    expect(damages).toEqual([])
  })

  test('cut anywhere in its last 4,096 bytes, it lacks the last event and nothing else', async () => {
    const image = await imageOfRunning()
    const cuts = Array.from({ length: 64 }, (_, index) => index * 64 + 1)
    for (const cut of [...cuts, 2, 3, 4, 8, 24, 4096]) {
      const log = image.log.subarray(0, -cut)
      const { ids, damages } = await opened({ ...image, log })
      expect(ids).toEqual(written.slice(0, -1))
      expect(damages).toEqual([])
    }
  })

  test('with a tail of zeros, it lacks the last event and nothing else', async () => {
    const image = await imageOfRunning()
    for (const bytes of [1, 512, 4096, 4120]) {
      const log = Buffer.from(image.log).fill(0, image.log.length - bytes)
      const { ids } = await opened({ ...image, log })
      expect(lostOf(ids).length).toBeLessThanOrEqual(1)
      expect(ids.slice(0, written.length - 1)).toEqual(written.slice(0, -1))
    }
  })

  test('with a byte of its log flipped, it is set aside and all else carried over', async () => {
    const image = await imageOfRunning()
    // A last frame that fails looks like a write that was interrupted.
    for (let at = 0; at < image.log.length - 4120; at += 1009) {
      const { ids, orphans, damages } = await opened({ ...image, log: flipped(image.log, at) })
      expect(damages).toHaveLength(1)
      expect(damages[0]).toMatchObject({ setAside: `${path}.damaged-1234`, settled: ids.length })
      expect(readFileSync(`${path}.damaged-1234-wal`)).toEqual(flipped(image.log, at))
      expect(lostOf(ids).length).toBeLessThanOrEqual(1)
      expect(orphans).toEqual(['att_open'])
    }
  }, 60_000)

  test('with a byte of its database flipped, it loses a page of rows at most', async () => {
    const image = await imageOfRunning()
    let reported = 0
    for (let at = 0; at < image.database.length; at += 251) {
      const { ids, damages } = await opened({ ...image, database: flipped(image.database, at) })
      reported += damages.length
      expect(lostOf(ids).length).toBeLessThanOrEqual(4)
    }
    expect(reported).toBeGreaterThan(100)
  }, 60_000)

  test('without its log, it says so', async () => {
    const { database } = await imageOfRunning()
    const { ids, damages } = await opened({ database })
    expect(ids).toEqual(written.slice(0, rowsInDatabase))
    expect(damages).toMatchObject([{ reason: 'its log is missing', setAside: undefined }])
  })

  test('without its database, or with an empty one, it keeps what its log has', async () => {
    const { log } = await imageOfRunning()
    for (const database of [undefined, Buffer.alloc(0)]) {
      const { ids, damages } = await opened(database ? { database, log } : { log })
      expect(ids.length).toBeGreaterThanOrEqual(rowsInLog)
      expect(lostOf(ids).length).toBeLessThanOrEqual(rowsInDatabase)
      expect(damages).toHaveLength(1)
    }
  })

  test('whatever was done to it, it opens, and holds only what was written', async () => {
    const image = await imageOfRunning()
    const place = fc.record({
      isLog: fc.boolean(),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 5000 }),
    })
    const damage = fc.record({ places: fc.array(place, { maxLength: 4 }), kept: fc.nat(100) })
    const property = fc.asyncProperty(damage, async ({ places, kept }) => {
      const database = Buffer.from(image.database)
      const log = Buffer.from(image.log)
      for (const { isLog, at, bytes } of places) {
        const target = isLog ? log : database
        const start = Math.floor(at * (target.length - 1))
        target.set(bytes.subarray(0, target.length - start), start)
      }
      const cut = Math.floor((database.length * Math.min(100, kept + 30)) / 100)
      const { ids } = await opened({ database: database.subarray(0, cut), log })
      expect(ids.filter((id) => !written.includes(id))).toEqual([])
    })
    await fc.assert(property, { numRuns: 100 })
  }, 60_000)

  test('a process that dies while it repairs leaves the rest to the next one', async () => {
    const image = await imageOfRunning()
    const log = flipped(image.log, 40_000)
    const { ids } = await opened({ ...image, log })
    // Killed before the new file was whole: what it has so far counts for nothing.
    for (const name of ['.rebuilding', '.copy']) writeFileSync(path + name, 'half')
    rmSync(path)
    copyFileSync(`${path}.damaged-1234`, path)
    copyFileSync(`${path}.damaged-1234-wal`, `${path}-wal`)
    {
      await using journal = await Journal.open({ path, sync: 'always' })
      expect(journal.settled(1000).map(({ attemptId }) => attemptId)).toEqual(ids)
    }
    // Killed between the renames.
    renameSync(path, `${path}.rebuilt`)
    writeFileSync(`${path}-wal`, log)
    await using journal = await Journal.open({ path, sync: 'always', now: () => 5678 })
    expect(journal.settled(1000).map(({ attemptId }) => attemptId)).toEqual(ids)
    expect(existsSync(`${path}.damaged-5678-wal`)).toBe(true)
  })

  test('a directory that cannot be written is no damage', async () => {
    writeFileSync(path, '')
    truncateSync(path)
    await expect(
      Journal.open({ path: join(directory, 'nowhere/journal.sqlite'), sync: 'always' }),
    ).rejects.toThrow()
    expect(readdirSync(directory)).toEqual(['journal.sqlite'])
  })
})

/** Writes in a loop until it is killed; says what was confirmed, in the order it was. */
const writer = (path: string, round: number) => `
  const { writeSync } = await import('node:fs')
  const { Journal } = await import(${JSON.stringify(join(import.meta.dir, 'journal.ts'))})
  const journal = await Journal.open({ path: ${JSON.stringify(path)}, sync: 'always' })
  const body = 'x'.repeat(3000)
  let next = 0
  const lane = async () => {
    for (;;) {
      const id = 'att_${round}_' + next++
      await journal.begin(id, body)
      writeSync(1, 'begun ' + id + '\\n')
      await journal.settle(id, body)
      writeSync(1, 'settled ' + id + '\\n')
    }
  }
  for (let index = 0; index < 8; index++) void lane()
  for (;;) {
    await Bun.sleep(3)
    const rows = journal.settled(100)
    for (const { attemptId } of rows) writeSync(1, 'dropped ' + attemptId + '\\n')
    await journal.drop(rows.map(({ seq }) => seq))
  }`

test('C01: after each of 50 kills, all that was confirmed is there', async () => {
  const said = { begun: new Set<string>(), settled: new Set<string>(), dropped: new Set<string>() }
  for (let round = 0; round < 50; round++) {
    const child = Bun.spawn([process.execPath, '-e', writer(path, round)], { stdout: 'pipe' })
    const output = new Response(child.stdout).text()
    await Bun.sleep(60 + Math.random() * 60)
    child.kill('SIGKILL')
    for (const line of (await output).split('\n').slice(0, -1)) {
      const [kind, id = ''] = line.split(' ')
      if (kind === 'begun' || kind === 'settled' || kind === 'dropped') said[kind].add(id)
    }
    const damages: Damage[] = []
    await using journal = await Journal.open({
      path,
      sync: 'always',
      onDamage: (damage) => void damages.push(damage),
    })
    expect(damages).toEqual([])
    const rows = new Set(journal.settled(100_000).map(({ attemptId }) => attemptId))
    const open = new Set(journal.orphans().map(({ attemptId }) => attemptId))
    const gone = [...said.settled].filter((id) => !rows.has(id) && !said.dropped.has(id))
    expect(gone).toEqual([])
    const silent = [...said.begun].filter(
      (id) => !open.has(id) && !rows.has(id) && !said.dropped.has(id),
    )
    expect(silent).toEqual([])
    expect([...said.settled].filter((id) => open.has(id))).toEqual([])
  }
  expect(said.settled.size).toBeGreaterThan(1000)
}, 120_000)
