import { describe, expect, test } from 'bun:test'
import { SimulatedDisk } from './disk'
import { codeOf, diskOf, diskWith, filled, randomOf, seeds } from './disk-for-tests'

describe('a killed process', () => {
  test('keeps all its writes and names, synced or not', () => {
    const { disk } = diskOf(1)
    const files = disk.fileSystem
    const fd = files.open('/d/part', 'w+')
    files.write(fd, Buffer.from('written'), 0)
    files.rename('/d/part', '/d/whole')
    disk.killProcess()
    expect(disk.fileSystem.list('/d')).toEqual(['whole'])
    expect(disk.fileSystem.readFile('/d/whole').toString()).toBe('written')
  })

  test('has no descriptors left, and changes nothing', () => {
    const { disk } = diskOf(1)
    const files = disk.fileSystem
    const fd = files.open('/d/file', 'w+')
    disk.killProcess()
    const again = disk.fileSystem.open('/d/other', 'w+')
    expect(again).not.toBe(fd)
    expect(codeOf(() => files.write(fd, Buffer.from('late'), 0))).toBe('ESRCH')
    expect(codeOf(() => files.write(again, Buffer.from('late'), 0))).toBe('ESRCH')
    expect(codeOf(() => files.open('/d/new', 'w+'))).toBe('ESRCH')
    expect(codeOf(() => files.remove('/d/file'))).toBe('ESRCH')
    expect(codeOf(() => disk.fileSystem.write(fd, Buffer.from('late'), 0))).toBe('EBADF')
    expect(disk.fileSystem.list('/d')).toEqual(['file', 'other'])
    expect(disk.fileSystem.readFile('/d/other')).toHaveLength(0)
  })

  test('never sees its running sync settle, which confirmed nothing', async () => {
    let lost = 0
    for (const seed of seeds) {
      const { disk, fd, endDelays } = await diskWith(Buffer.from('synced'), seed)
      disk.fileSystem.write(fd, Buffer.from('SYNCED'), 0)
      let isSettled = false
      const ended = () => (isSettled = true)
      void disk.fileSystem.sync(fd, 'file').then(ended, ended)
      disk.killProcess()
      await endDelays()
      expect(isSettled).toBe(false)
      disk.powerCut()
      if (disk.fileSystem.readFile('/d/file').toString() === 'synced') lost += 1
    }
    expect(lost).toBeGreaterThan(50)
    expect(lost).toBeLessThan(150)
  })
})

describe('a full disk', () => {
  test('accepts no write, or a part of it, and no new file, until it has space again', async () => {
    const seen = { refused: 0, partial: 0 }
    for (const seed of seeds) {
      const { disk, fd } = await diskWith(Buffer.from('old'), seed)
      disk.fill()
      const written = codeOf(() => disk.fileSystem.write(fd, filled(100, 1), 3))
      const part = typeof written === 'number' ? written : 0
      if (part > 0) seen.partial += 1
      else expect(written).toBe('ENOSPC')
      if (part === 0) seen.refused += 1
      expect(part).toBeLessThan(100)
      expect(disk.fileSystem.readFile('/d/file')).toEqual(
        Buffer.concat([Buffer.from('old'), filled(part, 1)]),
      )
      expect(codeOf(() => disk.fileSystem.open('/d/new', 'w+'))).toBe('ENOSPC')
      disk.fileSystem.truncate(fd, 3)
      disk.fileSystem.rename('/d/file', '/d/moved')
      disk.free()
      expect(disk.fileSystem.write(fd, filled(100, 2), 3)).toBe(100)
    }
    expect(Math.min(seen.refused, seen.partial)).toBeGreaterThan(50)
  })
})

describe('syncs', () => {
  test('take simulated time within the bounds, mostly near the lower one', async () => {
    const waits: number[] = []
    const disk = new SimulatedDisk({
      random: randomOf(1),
      delay: async (ms) => void waits.push(ms),
      now: () => 0,
      syncMs: { min: 2, max: 50 },
    })
    disk.makeDirectory('/d')
    const fd = disk.fileSystem.open('/d/file', 'w+')
    for (let count = 0; count < 1000; count++) await disk.fileSystem.sync(fd, 'file')
    const sorted = waits.toSorted((a, b) => a - b)
    expect(sorted[0]).toBeGreaterThanOrEqual(2)
    expect(sorted[500]).toBeLessThan(10)
    expect(sorted.at(-1)).toBeGreaterThan(40)
    expect(sorted.at(-1)).toBeLessThan(50)
  })

  test('end after a stall of the disk, running ones included', async () => {
    const { disk, endDelays, fd } = await diskWith(Buffer.from('old'), 1)
    const ended: string[] = []
    const before = disk.fileSystem.sync(fd, 'file').then(() => ended.push('before'))
    disk.stallSyncs(30_000)
    disk.stallSyncs(5000)
    const during = disk.fileSystem.sync(fd, 'file').then(() => ended.push('during'))
    await endDelays(5000)
    expect(ended).toEqual([])
    await endDelays(30_000)
    await Promise.all([before, during])
    const after = disk.fileSystem.sync(fd, 'file')
    await endDelays(1000)
    await after
  })

  test('fail on demand: the changes they covered are readable, and lost after a power cut', async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const { disk, fd, sync } = await diskWith(Buffer.from('synced'), seed)
      disk.failNextSync()
      disk.fileSystem.write(fd, Buffer.from('failed'), 0)
      await expect(sync(fd)).rejects.toMatchObject({ code: 'EIO' })
      // The kernel counts it as written: a second sync has nothing to do.
      await sync(fd)
      disk.killProcess()
      expect(disk.fileSystem.readFile('/d/file').toString()).toBe('failed')
      disk.powerCut()
      seen.add(disk.fileSystem.readFile('/d/file').toString())
    }
    expect(seen).toEqual(new Set(['synced', 'failed']))
  })

  test('write the rest of a changed page too, which a failed sync had left out', async () => {
    for (const seed of seeds) {
      const { disk, fd, sync } = await diskWith(filled(3 * 4096, 1), seed)
      disk.failNextSync()
      disk.fileSystem.write(fd, filled(3 * 4096, 2), 0)
      await expect(sync(fd)).rejects.toThrow('EIO')
      disk.fileSystem.write(fd, Buffer.from([3]), 5000)
      await sync(fd)
      disk.powerCut()
      const page = filled(4096, 2)
      page[5000 - 4096] = 3
      expect(disk.fileSystem.readFile('/d/file').subarray(4096, 8192)).toEqual(page)
    }
  })

  test('reject where their descriptor is closed before they end', async () => {
    const { disk, fd, endDelays } = await diskWith(Buffer.from('old'), 1)
    const synced = disk.fileSystem.sync(fd, 'file')
    const settled = Promise.allSettled([synced])
    disk.fileSystem.close(fd)
    await endDelays()
    expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: 'EBADF' } }])
  })
})

const contentOf = (seed: number) => {
  const { disk } = diskOf(seed)
  const fd = disk.fileSystem.open('/d/file', 'w+')
  for (let at = 0; at < 50; at++) disk.fileSystem.write(fd, filled(700, at), at * 300)
  disk.powerCut()
  return disk.fileSystem.list('/d').map((name) => disk.fileSystem.readFile(`/d/${name}`))
}

test('equal random numbers and equal calls give equal disks', () => {
  for (const seed of seeds) expect(contentOf(seed)).toEqual(contentOf(seed))
  expect(new Set(seeds.map((seed) => contentOf(seed).join())).size).toBeGreaterThan(30)
})
