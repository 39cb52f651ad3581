import { describe, expect, test } from 'bun:test'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkout, launch } from './checkout'
import { eventually } from '../../../server/testing/eventually'

/** The server's own, out of what it printed. */
function pidIn(out: string): number {
  const { pid }: { pid: number } = JSON.parse(out.split('\n')[0] ?? '')
  return pid
}

/** A module by which a launcher has the time that the test sets, and tells how often it has read it. */
async function launcherClock(root: string) {
  const path = join(root, 'clock.mjs')
  const now = join(root, 'now')
  const read = join(root, 'read')
  const module = `
    import { appendFileSync, readFileSync } from 'node:fs'
    performance.now = () => {
      const now = Number(readFileSync(${JSON.stringify(now)}, 'utf8'))
      appendFileSync(${JSON.stringify(read)}, '.')
      return now
    }`
  await writeFile(path, module)
  await writeFile(read, '')
  const reads = async () => (await readFile(read, 'utf8')).length
  return {
    path,
    reads,
    async set(ms: number) {
      await writeFile(now, String(ms))
      return reads()
    },
  }
}

describe('a signal to the launcher', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s reaches the server once in a second; the launcher waits',
    async (name) => {
      const root = await checkout()
      const clock = await launcherClock(root)
      const started = launch(root, ['start', 'stay'], { NODE_OPTIONS: `--import=${clock.path}` })
      await eventually(() => started.output.out.includes('pid'))
      const signals = () => started.output.out.trim().split('\n').slice(1)
      const signal = async (atMs: number) => {
        const before = await clock.set(atMs)
        started.child.kill(name)
        await eventually(async () => (await clock.reads()) > before)
      }
      await signal(5000)
      // Two that are forwarded before the server runs again would reach it as one.
      await eventually(() => signals().length === 1)
      // npm forwards it too: what comes twice within a second is the same.
      await signal(6000)
      await signal(7001)
      await eventually(() => signals().length >= 2)
      process.kill(pidIn(started.output.out), 'SIGUSR1')
      expect(await started.code).toBe(12)
      expect(signals()).toEqual([name, name])
    },
  )

  test('Ctrl-C in the terminal, which reaches both, ends both', async () => {
    const started = launch(await checkout(), ['start', 'stay'])
    await eventually(() => started.output.out.includes('pid'))
    process.kill(-(started.child.pid ?? 0), 'SIGINT')
    await eventually(() => started.output.out.includes('SIGINT'))
    process.kill(pidIn(started.output.out), 'SIGUSR1')
    expect([11, 12]).toContain((await started.code) ?? 0)
  })
})
