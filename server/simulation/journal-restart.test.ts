import { expect, test } from 'bun:test'
import { SimulatedDisk } from './disk'
import { randomOf, seeds } from './disk-for-tests'
import { PlayedTime } from './played-time-for-tests'
import { Journal } from '../src/journal/journal'

/** Creates a journal on a disk with delays. */
function createFixture(seed: number) {
  const time = new PlayedTime()
  const disk = new SimulatedDisk({
    random: randomOf(seed),
    delay: (ms) => time.delay(ms),
    now: () => time.nowMs,
  })
  disk.makeDirectory('/data')
  const open = () =>
    Journal.open({ directory: '/data', sync: 'always', fileSystem: disk.fileSystem })
  return { time, disk, open }
}

const settledIn = (journal: Journal) => journal.settled(10).map(({ attemptId }) => attemptId)

test('rows that a start has read survive a power cut, though the previous process was killed before its sync', () => {
  for (const seed of seeds) {
    const { time, disk, open } = createFixture(seed)
    time.play(async () => {
      const first = await open()
      void first.settle('att_1', 'x'.repeat(2000))
      disk.stallSyncs(1000)
      await time.delay(100)
      disk.killProcess()
      expect(settledIn(await open())).toEqual(['att_1'])
      disk.powerCut()
      expect(settledIn(await open())).toEqual(['att_1'])
    })
  }
})

test('rows that were rejected, and that a start has not read, do not reappear after a power cut', () => {
  for (const seed of seeds) {
    const { time, disk, open } = createFixture(seed)
    time.play(async () => {
      const first = await open()
      await first.settle('att_kept', 'x')
      disk.fill()
      // Lines of one sector, so that a partial write has some complete lines.
      const all = Array.from({ length: 10 }, (_, index) => first.settle(`att_${index}`, 'x'))
      const results = await Promise.allSettled(all)
      expect(results.map(({ status }) => status)).toEqual(Array(10).fill('rejected'))
      disk.free()
      disk.killProcess()
      expect(settledIn(await open())).toEqual(['att_kept'])
      disk.powerCut()
      expect(settledIn(await open())).toEqual(['att_kept'])
    })
  }
})
