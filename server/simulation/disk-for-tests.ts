import { SimulatedDisk } from './disk'

/** Creates a generator of numbers from 0 to 1, reproducible by seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Creates a disk with the directory `/d`, and delays that the test controls. */
export function diskOf(seed: number) {
  const delays: { ms: number; resolve: () => void }[] = []
  const disk = new SimulatedDisk({
    random: randomOf(seed),
    delay: (ms) => new Promise((resolve) => void delays.push({ ms, resolve })),
    now: () => 1000,
  })
  disk.makeDirectory('/d')
  /** Ends the delays of up to `ms` milliseconds. */
  const endDelays = async (ms = Infinity) => {
    for (const delay of delays.splice(0)) {
      if (delay.ms <= ms) delay.resolve()
      else delays.push(delay)
    }
    await Bun.sleep(0)
  }
  const sync = async (fd: number, kind: 'file' | 'directory' = 'file') => {
    const [[synced]] = await Promise.all([
      Promise.allSettled([disk.fileSystem.sync(fd, kind)]),
      endDelays(),
    ])
    if (synced.status === 'rejected') throw synced.reason
  }
  const syncNames = () => sync(disk.fileSystem.open('/d', 'r'), 'directory')
  return { disk, endDelays, sync, syncNames }
}

/** Creates a disk with one file in a directory, both synced. */
export async function diskWith(content: Buffer, seed: number) {
  const created = diskOf(seed)
  const fd = created.disk.fileSystem.open('/d/file', 'w+')
  created.disk.fileSystem.write(fd, content, 0)
  await created.sync(fd)
  await created.syncNames()
  return { ...created, fd }
}

export const filled = (bytes: number, value: number) => Buffer.alloc(bytes, value)
export const codeOf = (action: () => unknown): unknown => {
  try {
    return action()
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown ? thrown.code : thrown
  }
}
export const seeds = Array.from({ length: 200 }, (_, seed) => seed)
