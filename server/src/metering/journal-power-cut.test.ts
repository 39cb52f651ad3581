import { expect, test } from 'bun:test'
import { fstatSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { Journal } from './journal'

const sectorBytes = 512

/** The file after a power cut: of what was not synced, any sector may be on disk or not. */
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

/** A disk that remembers what was synced, and asks `look` what a power cut would leave. */
function rememberingDisk(path: string) {
  const files = [path, `${path}-wal`]
  const synced = new Map(files.map((file) => [file, Buffer.alloc(0)]))
  let isFull = false
  return {
    synced,
    files,
    fillUp: () => (isFull = true),
    sync: async (fd: number) => {
      const file = files.find((name) => statSync(name).ino === fstatSync(fd).ino) ?? ''
      const content = readFileSync(file)
      await Bun.sleep(0)
      synced.set(file, content)
    },
    // A write that fails makes the journal empty its log.
    write: () => {
      if (!isFull) return
      isFull = false
      throw new Error('ENOSPC')
    },
  }
}

/** Opens what a power cut leaves now, elsewhere; returns the attempts it holds. */
async function remains(disk: ReturnType<typeof rememberingDisk>, path: string, seed: number) {
  const random = fc.sample(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), {
    seed,
    numRuns: 1,
  })[0]
  const chance = () => Number(random?.next().value)
  for (const file of disk.files) {
    const synced = disk.synced.get(file) ?? Buffer.alloc(0)
    const image = afterPowerCut(synced, readFileSync(file), chance)
    writeFileSync(file.replace('journal', 'image'), image)
  }
  const copy = path.replace('journal', 'image')
  await using journal = await Journal.open({
    path: copy,
    sync: 'always',
    disk: { sync: async () => undefined },
  })
  return new Set(journal.settled(10_000).map(({ attemptId }) => attemptId))
}

const step = fc.constantFrom('pair', 'pair', 'pair', 'begin', 'drop', 'empty', 'cut')

test('after a power cut at any moment, all that was confirmed is there', async () => {
  let cuts = 0
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 20, maxLength: 60 }),
    fc.integer(),
    async (steps, seed) => {
      const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
      const path = join(directory, 'journal.sqlite')
      const disk = rememberingDisk(path)
      const journal = await Journal.open({ path, sync: 'always', disk })
      const confirmed = new Set<string>()
      // Perhaps before their settlement was confirmed.
      const dropped = new Set<string>()
      const running: Promise<void>[] = []
      let next = 0
      const settle = async () => {
        const id = `att_${next++}`
        await journal.begin(id, 'x'.repeat(500))
        await journal.settle(id, id.repeat(300))
        confirmed.add(id)
      }
      for (const [index, kind] of steps.entries()) {
        if (kind === 'pair') running.push(settle())
        if (kind === 'begin') running.push(journal.begin(`att_open_${index}`, 'open'))
        if (kind === 'drop') {
          const rows = journal.settled(5)
          for (const { attemptId } of rows) dropped.add(attemptId)
          running.push(journal.drop(rows.map(({ seq }) => seq)))
        }
        if (kind === 'empty') {
          await Promise.all(running.splice(0))
          for (let open = 0; open < 10; open++) await journal.begin(`att_${index}_${open}`, 'open')
          disk.fillUp()
          await journal.settle('att_refused', '').catch(() => undefined)
        }
        // Somewhere in the middle of what runs.
        for (let turn = 0; turn < index % 5; turn++) {
          await new Promise((resolve) => setImmediate(resolve))
        }
        if (kind !== 'cut') continue
        const before = [...confirmed].filter((id) => !dropped.has(id))
        const left = await remains(disk, path, seed + index)
        cuts += 1
        expect(before.filter((id) => !left.has(id))).toEqual([])
        for (const file of disk.files) rmSync(file.replace('journal', 'image'), { force: true })
      }
      await Promise.all(running)
      await journal.close()
      rmSync(directory, { recursive: true })
    },
  )
  await fc.assert(property, { numRuns: 100 })
  expect(cuts).toBeGreaterThan(100)
}, 120_000)
