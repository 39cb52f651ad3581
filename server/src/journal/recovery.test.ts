import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeep, sampled } from '../../testing/depth'
import * as fc from '../../testing/property'
import { Journal } from './journal'
import {
  fileIn,
  flipped,
  captureReused,
  captureRunning,
  lostOf,
  nameOf,
  newestOf,
  opened,
  perStart,
  starts,
  withFile,
  written,
} from '../../testing/journal/images'

let root: string
let directory: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  directory = join(root, 'journal')
})
afterEach(() => rmSync(root, { recursive: true }))

/** How many rows of a file end before a byte of it. */
const rowsBefore = (bytes: Buffer, at: number) =>
  bytes
    .subarray(0, at)
    .toString('latin1')
    .split('\n')
    .slice(0, -1)
    .filter((line) => line[0] === '=').length

describe('C04: a damaged journal', () => {
  test('reads an undamaged journal completely', async () => {
    const { ids, orphans, damages } = await opened(directory, await captureRunning(root))
    expect(ids).toEqual(written)
    expect(orphans).toEqual(['att_open'])
    expect(damages).toEqual([])
  })

  test('loses only the lines behind a cut at each of its last 4,096 bytes', async () => {
    const image = await captureRunning(root)
    const name = newestOf(image)
    const whole = fileIn(image, name)
    const cuts = Array.from({ length: 4096 }, (_, index) => index + 1)
    for (const cut of sampled(cuts, 29)) {
      const left = whole.subarray(0, -cut)
      const { ids, damages } = await opened(directory, withFile(image, name, left))
      // A line without its newline is whole.
      const count = 2 * perStart + rowsBefore(whole, left.length + 1)
      expect(ids).toEqual(written.slice(0, count))
      expect(damages).toEqual([])
    }
  }, 120_000)

  test('loses only the lines that a tail of zeros covers', async () => {
    const image = await captureRunning(root)
    const name = newestOf(image)
    const whole = fileIn(image, name)
    for (const bytes of [1, 2, 511, 512, 1000, 4096, 4120]) {
      const start = whole.length - bytes
      const file = Buffer.from(whole).fill(0, start)
      const { ids, damages } = await opened(directory, withFile(image, name, file))
      expect(ids).toEqual(written.slice(0, 2 * perStart + rowsBefore(whole, start)))
      expect(damages).toEqual([])
    }
  })

  test('loses at most one line for any flipped byte, and keeps a copy of the damaged file', async () => {
    const image = await captureRunning(root)
    let reported = 0
    let flips = 0
    for (const [name, bytes] of image) {
      // Every place in a line, as lines are not of this length; bits that make and unmake newlines too.
      const places = Array.from({ length: Math.ceil(bytes.length / 17) }, (_, index) => 17 * index)
      for (const at of sampled(places, 7)) {
        const damaged = flipped(bytes, at, [0x40, 0x04, 0x2a][at % 3])
        const { ids, orphans, damages } = await opened(directory, withFile(image, name, damaged))
        const lost = lostOf(ids).length
        expect(lost).toBeLessThanOrEqual(1)
        // Both where it began and where it was carried over to.
        expect(orphans).toEqual(['att_open'])
        flips += 1
        reported += damages.length
        // In the last line it looks like a write that was interrupted.
        if (at < bytes.lastIndexOf('\n', -2)) expect(damages).toHaveLength(1)
        const [damage] = damages
        if (!damage) continue
        expect(damage).toMatchObject({ settled: ids.length })
        expect(damage.setAside).toBe(join(directory, `${name}.damaged-1234`))
        expect(readFileSync(damage.setAside ?? '')).toEqual(damaged)
      }
    }
    expect(flips).toBeGreaterThan(isDeep ? 1000 : 1000 / 7)
    expect(reported).toBeGreaterThan(0.9 * flips)
  }, 120_000)

  test('loses no line to a flipped newline', async () => {
    const image = await captureRunning(root)
    for (const [name, bytes] of image) {
      for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1)) {
        const { ids, orphans } = await opened(directory, withFile(image, name, flipped(bytes, at)))
        // Behind the last line nothing tells the newline from a part of it.
        if (at < bytes.length - 1) expect(ids).toEqual(written)
        expect(orphans).toEqual(['att_open'])
      }
    }
  })

  test('reports a missing segment; without the last one, it reads the others', async () => {
    const image = await captureRunning(root)
    const names = [...image.keys()].filter((name) => name.endsWith('.log')).toSorted()
    expect(names).toHaveLength(starts)
    for (const [index, name] of names.entries()) {
      const { ids, damages } = await opened(directory, withFile(image, name, undefined))
      const lost = written.slice(index * perStart, (index + 1) * perStart)
      expect(lostOf(ids)).toEqual(lost)
      if (index === starts - 1) continue
      expect(damages).toMatchObject([
        { reason: `segment ${index + 1} is missing`, setAside: undefined, settled: ids.length },
      ])
    }
  })

  test('does not report a missing segment that is not needed', async () => {
    const { image, name } = await captureReused(root)
    for (const each of image.keys()) {
      if (each === name) continue
      const { ids, orphans, damages } = await opened(directory, withFile(image, each, undefined))
      expect(lostOf(ids)).toEqual([])
      expect(orphans).toEqual(['att_open'])
      expect(damages).toEqual([])
    }
  })

  test('never reads earlier lines of a reused file, for every cut', async () => {
    const { image, name, end } = await captureReused(root)
    const bytes = fileIn(image, name)
    // Lines of an earlier generation.
    const old = bytes.subarray(end)
    expect(old.length).toBeGreaterThan(3000)
    for (let cut = 0; cut < 3000; cut += isDeep ? 23 : 149) {
      const torn = Buffer.from(bytes)
      torn.set(old.subarray(0, cut), end - cut)
      const { ids, orphans, damages } = await opened(directory, withFile(image, name, torn))
      // A line is whole with its newline, which may have been there before.
      const kept = torn[end - cut] === 0x0a ? end - cut + 1 : end - cut
      const whole = bytes.subarray(0, kept).toString().split('\n').slice(0, -1)
      expect(ids).toEqual(written.filter((id) => whole.some((line) => line.includes(` ${id} `))))
      expect(orphans).toEqual(['att_open'])
      expect(damages).toEqual([])
    }
  }, 120_000)

  test('reports and keeps files of garbage, and reads the others', async () => {
    const image = await captureRunning(root)
    const names = [...image.keys()].toSorted()
    const garbage = [Buffer.alloc(5000), Buffer.alloc(5000, '=\n'), Buffer.from('not a journal')]
    for (const bytes of garbage) {
      for (const [index, name] of names.entries()) {
        const { ids, damages } = await opened(directory, withFile(image, name, bytes))
        expect(lostOf(ids)).toEqual(written.slice(index * perStart, (index + 1) * perStart))
        expect(damages).toMatchObject([{ reason: 'it has no line that can be read' }])
        expect(readFileSync(damages[0]?.setAside ?? '')).toEqual(bytes)
      }
      const { damages } = await opened(directory, new Map([['journal-00000007.log', bytes]]))
      expect(damages).toHaveLength(1)
    }
    const { ids, damages } = await opened(
      directory,
      withFile(image, names[0] ?? '', Buffer.alloc(0)),
    )
    expect([ids, damages]).toEqual([written.slice(perStart), []])
  })

  test('opens after any damage, and contains only lines that were written', async () => {
    const image = await captureRunning(root)
    const place = fc.record({
      file: fc.nat(starts - 1),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 5000 }),
    })
    const damage = fc.record({ places: fc.array(place, { maxLength: 4 }), kept: fc.nat(100) })
    const property = fc.asyncProperty(damage, async ({ places, kept }) => {
      const files = [...image].map(([name, bytes]) => ({ name, bytes: Buffer.from(bytes) }))
      for (const { file, at, bytes } of places) {
        const target = files[file]?.bytes ?? Buffer.alloc(0)
        const start = Math.floor(at * (target.length - 1))
        target.set(bytes.subarray(0, target.length - start), start)
      }
      const changed = new Map(files.map(({ name, bytes }) => [name, bytes]))
      const cut = files[0]
      if (cut) changed.set(cut.name, cut.bytes.subarray(0, (cut.bytes.length * kept) / 100))
      const { ids } = await opened(directory, changed)
      expect(ids.filter((id) => !written.includes(id))).toEqual([])
    })
    await fc.assert(property, { numRuns: 200 })
  })

  test('a process that dies before its first segment leaves everything to the next one', async () => {
    const image = await captureRunning(root)
    const name = newestOf(image)
    const damaged = withFile(image, name, flipped(fileIn(image, name), 1000))
    const { ids } = await opened(directory, damaged)
    const half = withFile(damaged, `${name}.damaged-1`, Buffer.from('half'))
    for (const torn of ['', '-']) {
      const again = await opened(directory, withFile(half, nameOf(starts + 1), Buffer.from(torn)))
      expect(again.ids).toEqual(ids)
      expect(again.damages.map(({ setAside }) => setAside)).toContain(
        join(directory, `${name}.damaged-1234`),
      )
    }
  })

  test('treats a missing directory as empty', async () => {
    const nowhere = join(root, 'nowhere')
    await expect(Journal.open({ directory: nowhere, sync: 'always' })).rejects.toThrow('ENOENT')
    expect(existsSync(nowhere)).toBe(false)
  })
})
