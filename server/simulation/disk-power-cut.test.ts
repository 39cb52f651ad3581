import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { sectorBytes } from './disk-file'
import { diskOf, diskWith, filled, seeds } from './disk-for-tests'

describe('a power cut', () => {
  test('keeps some unsynced sectors, each entirely or not at all', async () => {
    const seen = { torn: 0, all: 0, none: 0 }
    for (const seed of seeds) {
      const { disk, fd } = await diskWith(filled(10 * sectorBytes, 1), seed)
      disk.fileSystem.write(fd, filled(8 * sectorBytes, 2), sectorBytes)
      disk.powerCut()
      const bytes = disk.fileSystem.readFile('/d/file')
      expect(bytes).toHaveLength(10 * sectorBytes)
      const sectors = Array.from({ length: 10 }, (_, at) =>
        bytes.subarray(at * sectorBytes, (at + 1) * sectorBytes),
      )
      for (const sector of sectors) expect(new Set(sector).size).toBe(1)
      const values = sectors.map((sector) => sector[0])
      expect([values[0], values[9]]).toEqual([1, 1])
      const survived = values.filter((value) => value === 2).length
      if (survived === 8) seen.all += 1
      else if (survived === 0) seen.none += 1
      else seen.torn += 1
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(20)
  })

  test('keeps a sector that was written several times as of any of its writes', async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const { disk, fd } = await diskWith(Buffer.from('----'), seed)
      for (const [at, letter] of ['a', 'b', 'c', 'd'].entries()) {
        disk.fileSystem.write(fd, Buffer.from(letter), at)
      }
      disk.powerCut()
      seen.add(disk.fileSystem.readFile('/d/file').toString())
    }
    expect([...seen].toSorted()).toEqual(['----', 'a---', 'ab--', 'abc-', 'abcd'])
  })

  test('keeps a size that the file had at some moment, with zeros or old bytes where data is missing', async () => {
    const seen = { short: 0, zeros: 0, whole: 0, cut: 0, old: 0 }
    for (const seed of seeds) {
      const { disk, fd } = await diskWith(filled(3 * sectorBytes, 1), seed)
      disk.fileSystem.truncate(fd, sectorBytes)
      disk.fileSystem.write(fd, filled(4 * sectorBytes, 2), sectorBytes)
      disk.powerCut()
      const bytes = disk.fileSystem.readFile('/d/file')
      expect([1, 3, 5]).toContain(bytes.length / sectorBytes)
      expect(bytes.subarray(0, sectorBytes)).toEqual(filled(sectorBytes, 1))
      const rest = new Set(bytes.subarray(sectorBytes))
      expect([...rest].every((value) => value <= 2)).toBe(true)
      if (bytes.length === sectorBytes) seen.cut += 1
      if (bytes.length === 3 * sectorBytes) seen.short += 1
      if (rest.has(0)) seen.zeros += 1
      if (rest.has(1)) seen.old += 1
      if (bytes.length === 5 * sectorBytes && rest.size === 1 && rest.has(2)) seen.whole += 1
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(5)
  })

  test('keeps everything written before a sync began, and synced names', async () => {
    for (const seed of seeds) {
      const { disk, fd, endDelays, syncNames } = await diskWith(filled(2000, 1), seed)
      disk.fileSystem.write(fd, filled(2000, 2), 1000)
      const synced = disk.fileSystem.sync(fd, 'file')
      disk.fileSystem.write(fd, filled(100, 3), 2950)
      disk.fileSystem.rename('/d/file', '/d/moved')
      await endDelays()
      await synced
      await syncNames()
      disk.powerCut()
      expect(disk.fileSystem.list('/d')).toEqual(['moved'])
      const bytes = disk.fileSystem.readFile('/d/moved')
      expect(bytes.subarray(0, 2950)).toEqual(Buffer.concat([filled(1000, 1), filled(1950, 2)]))
    }
  })

  test('may lose writes made while the sync ran', async () => {
    let lost = 0
    for (const seed of seeds) {
      const { disk, fd, endDelays } = await diskWith(Buffer.from('...'), seed)
      disk.fileSystem.write(fd, Buffer.from('1'), 0)
      const synced = disk.fileSystem.sync(fd, 'file')
      disk.fileSystem.write(fd, Buffer.from('2'), 1)
      await endDelays()
      await synced
      disk.powerCut()
      if (disk.fileSystem.readFile('/d/file').toString() === '1..') lost += 1
    }
    expect(lost).toBeGreaterThan(50)
  })

  test('keeps the first of the unsynced changes of a directory', async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const { disk } = await diskWith(Buffer.from('old'), seed)
      const files = disk.fileSystem
      files.rename('/d/file', '/d/spare')
      files.close(files.open('/d/new', 'w+'))
      files.rename('/d/spare', '/d/new')
      files.remove('/d/new')
      disk.powerCut()
      const left = disk.fileSystem
        .list('/d')
        .map((name) => `${name}=${disk.fileSystem.readFile(join('/d', name)).toString()}`)
      seen.add(left.toSorted().join(' '))
    }
    expect([...seen].toSorted()).toEqual(['', 'file=old', 'new= spare=old', 'new=old', 'spare=old'])
  })

  test('loses a synced file whose name was not synced; a data sync of the directory does not count', async () => {
    const seen = new Set<number>()
    for (const seed of seeds) {
      const { disk, sync } = diskOf(seed)
      const fd = disk.fileSystem.open('/d/file', 'w+')
      disk.fileSystem.write(fd, Buffer.from('synced'), 0)
      await sync(fd)
      await sync(disk.fileSystem.open('/d', 'r'), 'file')
      disk.powerCut()
      const names = disk.fileSystem.list('/d')
      seen.add(names.length)
      if (names[0]) expect(disk.fileSystem.readFile('/d/file').toString()).toBe('synced')
    }
    expect(seen).toEqual(new Set([0, 1]))
  })
})
