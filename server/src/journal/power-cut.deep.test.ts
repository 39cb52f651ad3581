import { expect, test } from 'bun:test'
import {
  fstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from '../../testing/property'
import { Journal } from './journal'
import { nodeFileSystem, type JournalFileSystem } from './file-system'

const sectorBytes = 512

/** A file after a power cut: of what was not synced, any sector may be on disk or not. */
function afterPowerCut(synced: Buffer, current: Buffer, chance: () => number): Buffer {
  const length = chance() < 0.5 ? synced.length : current.length
  const share = [0.02, 0.5, 0.98, 1][Math.floor(chance() * 4)] ?? 0
  const image = Buffer.alloc(length)
  synced.copy(image)
  for (let at = 0; at < length; at += sectorBytes) {
    const sector = current.subarray(at, Math.min(at + sectorBytes, length))
    if (chance() < share) image.set(sector, at)
  }
  return image
}

/** Which file has which name. */
type Names = ReadonlyMap<string, number>

/**
 * A disk that remembers what of each file was synced, and in which order names were made, moved and
 * taken away; of the changes since the directory was synced, a power cut leaves the first ones.
 */
function rememberingDisk(directory: string) {
  const synced = new Map<number, Buffer>()
  const current = new Map<number, Buffer>()
  let states: Names[] = [new Map()]
  let isFull = false
  let reused = 0
  const note = () => {
    const names = new Map<string, number>()
    for (const name of readdirSync(directory)) {
      const { ino } = statSync(join(directory, name))
      names.set(name, ino)
      current.set(ino, readFileSync(join(directory, name)))
    }
    const before = new Map([...(states.at(-1) ?? [])].map(([name, ino]) => [ino, name]))
    for (const [name, ino] of names) {
      if (name.endsWith('.log') && before.get(ino)?.endsWith('.spare')) reused += 1
    }
    states.push(names)
  }
  const fileSystem: JournalFileSystem = {
    ...nodeFileSystem,
    sync: async (fd, kind) => {
      note()
      const { ino } = fstatSync(fd)
      const content = current.get(ino) ?? Buffer.alloc(0)
      const known = states.length
      await Bun.sleep(0)
      if (kind === 'file') synced.set(ino, content)
      else states = states.slice(known - 1)
    },
    write: (fd, bytes, offset) => {
      note()
      if (!isFull) return nodeFileSystem.write(fd, bytes, offset)
      isFull = false
      throw new Error('ENOSPC')
    },
  }
  return {
    fileSystem,
    reused: () => reused,
    fillUp: () => (isFull = true),
    /** What a power cut would leave now. */
    cut(into: string, chance: () => number) {
      note()
      const names = states[Math.floor(chance() * states.length)] ?? new Map<string, number>()
      for (const [name, ino] of names) {
        const image = afterPowerCut(
          synced.get(ino) ?? Buffer.alloc(0),
          current.get(ino) ?? Buffer.alloc(0),
          chance,
        )
        writeFileSync(join(into, name), image)
      }
    },
  }
}

/** Opens what a power cut leaves now, elsewhere; returns the attempts it holds. */
async function remains(disk: ReturnType<typeof rememberingDisk>, seed: number) {
  const random = fc.sample(
    fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
    {
      seed,
      numRuns: 1,
    },
  )[0]
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  disk.cut(directory, () => Number(random?.next().value))
  const reasons: string[] = []
  await using journal = await Journal.open({
    directory,
    sync: 'always',
    fileSystem: { ...nodeFileSystem, sync: async () => undefined },
    onDamage: ({ reason }) => void reasons.push(reason),
  })
  const found = new Set(journal.settled(10_000).map(({ attemptId }) => attemptId))
  expect(reasons.filter((reason) => reason.includes('missing'))).toEqual([])
  rmSync(directory, { recursive: true })
  return found
}

const step = fc.constantFrom('pair', 'pair', 'long', 'begin', 'drop', 'full', 'cut', 'cut')

test('keeps every confirmed row after a power cut at any moment', async () => {
  const seen = { cuts: 0, reused: 0 }
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 20, maxLength: 60 }),
    fc.integer(),
    async (steps, seed) => {
      const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
      const disk = rememberingDisk(directory)
      const { fileSystem } = disk
      // A quarter of the runs keep a booked file for a while.
      const recent = { ms: seed % 4 === 0 ? 60_000 : 0, bytes: 2_000_000 }
      const journal = await Journal.open({ directory, sync: 'always', fileSystem, recent })
      let isRefused = true
      const confirmed = new Set<string>()
      // Perhaps before their settlement was confirmed.
      const dropped = new Set<string>()
      const running: Promise<void>[] = []
      let next = 0
      const settle = async (times: number) => {
        const id = `att_${next++}`
        await journal.begin(id, 'x'.repeat(500))
        await journal.settle(id, id.repeat(times))
        confirmed.add(id)
      }
      for (const [index, kind] of steps.entries()) {
        if (kind === 'pair') running.push(settle(300))
        // Half of a segment, so that the next ones are begun and files used again.
        if (kind === 'long') running.push(settle(170_000))
        if (kind === 'begin') running.push(journal.begin(`att_open_${index}`, 'open'))
        if (kind === 'drop') {
          const rows = journal.settled(5)
          for (const { attemptId } of rows) dropped.add(attemptId)
          running.push(journal.drop(rows.map(({ seq }) => seq)))
        }
        if (kind === 'full') {
          await Promise.all(running.splice(0))
          disk.fillUp()
          // Kept files may have made room for it.
          await journal.settle('att_refused', '').then(
            () => (isRefused = false),
            () => undefined,
          )
        }
        // Somewhere in the middle of what runs.
        for (let turn = 0; turn < index % 5; turn++) {
          await new Promise((resolve) => setImmediate(resolve))
        }
        if (kind !== 'cut') continue
        const before = [...confirmed].filter((id) => !dropped.has(id))
        const left = await remains(disk, seed + index)
        seen.cuts += 1
        expect(before.filter((id) => !left.has(id))).toEqual([])
        if (isRefused) expect(left.has('att_refused')).toBe(false)
      }
      await Promise.all(running)
      seen.reused += disk.reused()
      await journal.close()
      rmSync(directory, { recursive: true })
    },
  )
  const runs = fc.runsOf(100)
  await fc.assert(property, { numRuns: runs })
  expect(seen.cuts).toBeGreaterThan(runs)
  expect(seen.reused).toBeGreaterThan(runs / 5)
}, 300_000)
