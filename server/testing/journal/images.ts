import { expect } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Journal } from '../../src/journal/journal'
import { nodeFileSystem } from '../../src/journal/file-system'
import type { Damage } from '../../src/journal/replay'

export const perStart = 30
export const starts = 3
export const written = Array.from({ length: starts * perStart }, (_, index) => `att_${index}`)
const bodyOf = (attemptId: string) => `${attemptId} ${'ü☃'.repeat(60)}`

/** The files of a directory, by name. */
type Image = Map<string, Buffer>

export const nameOf = (generation: number) => `journal-${String(generation).padStart(8, '0')}.log`

const imageOf = (from: string): Image =>
  new Map(readdirSync(from).map((name) => [name, readFileSync(join(from, name))]))

export const withFile = (image: Image, name: string, bytes: Buffer | undefined): Image => {
  const changed = new Map(image)
  if (bytes) changed.set(name, bytes)
  else changed.delete(name)
  return changed
}

export const fileIn = (image: Image, name: string): Buffer => image.get(name) ?? Buffer.alloc(0)

/** Captures the files of a process killed now: a segment of each of three starts, all rows still to be booked. */
export async function captureRunning(root: string): Promise<Image> {
  const source = mkdtempSync(join(root, 'source-'))
  for (let start = 0; ; start++) {
    await using journal = await Journal.open({ directory: source, sync: 'always' })
    if (start === 1) await journal.begin('att_open', 'open')
    for (const id of written.slice(start * perStart, (start + 1) * perStart)) {
      await journal.settle(id, bodyOf(id))
    }
    if (start === starts - 1) return imageOf(source)
  }
}

/**
 * Captures the files of a process that reused its files and was killed: old content remains behind the end of the
 * last one. All earlier rows are booked.
 */
export async function captureReused(
  root: string,
): Promise<{ image: Image; name: string; end: number }> {
  const source = mkdtempSync(join(root, 'source-'))
  await using journal = await Journal.open({ directory: source, sync: 'always' })
  const book = async (count: number) => journal.drop(journal.settled(count).map(({ seq }) => seq))
  for (let round = 0; round < 40; round++) {
    const ids = Array.from({ length: 200 }, (_, index) => `att_old_${round}_${index}`)
    await Promise.all(ids.map((id) => journal.settle(id, bodyOf(id).repeat(2))))
    await book(1000)
  }
  const before = imageOf(source)
  await journal.begin('att_open', 'open')
  for (const id of written) await journal.settle(id, bodyOf(id))
  const image = imageOf(source)
  const name = newestOf(image)
  const bytes = fileIn(image, name)
  const end = bytes.indexOf(`${written.at(-1)} ${bodyOf(written.at(-1) ?? '')}`)
  expect(before.get(name)?.length).toBe(bytes.length)
  return { image, name, end: bytes.indexOf('\n', end) + 1 }
}

/** Returns the last segment of an image. */
export const newestOf = (image: Image) =>
  [...image.keys()]
    .filter((name) => name.endsWith('.log'))
    .toSorted()
    .at(-1) ?? ''

/** Opens a journal of these files twice: the second time must report no damage again. */
export async function opened(directory: string, image: Image) {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, bytes] of image) writeFileSync(join(directory, name), bytes)
  const damages: Damage[] = []
  const onDamage = (damage: Damage) => void damages.push(damage)
  const fileSystem = { ...nodeFileSystem, sync: async () => undefined }
  const read = async () => {
    await using journal = await Journal.open({
      directory,
      sync: 'always',
      now: () => 1234,
      onDamage,
      fileSystem,
    })
    const rows = journal.settled(100_000)
    for (const { attemptId, body } of rows) {
      if (attemptId.startsWith('att_old')) continue
      expect(body).toBe(attemptId.startsWith('att_new') ? 'new' : bodyOf(attemptId))
    }
    expect(rows).toHaveLength(journal.size)
    const orphans = journal.orphans().map(({ attemptId }) => attemptId)
    await journal.settle('att_new', 'new')
    return { ids: rows.map(({ attemptId }) => attemptId), orphans }
  }
  const found = await read()
  const reported = damages.length
  const reopened = await read()
  expect(reopened).toEqual({ ids: [...found.ids, 'att_new'], orphans: found.orphans })
  expect(damages).toHaveLength(reported)
  return { ...found, damages }
}

export const flipped = (bytes: Buffer, at: number, bit = 0x40) => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ bit
  return copy
}

export const lostOf = (ids: readonly string[]) => written.filter((id) => !ids.includes(id))
