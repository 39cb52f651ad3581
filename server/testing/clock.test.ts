import { expect, test } from 'bun:test'
import { TestClock } from './clock'
import { systemClock, type Clock } from '../src/platform/clock'

const clocks = (): [string, Clock, (ms: number) => Promise<void>][] => {
  const clock = new TestClock()
  return [
    ['of tests', clock, (ms) => clock.advance(ms)],
    ['of the machine', systemClock, (ms) => systemClock.sleep(ms)],
  ]
}

test.each(clocks())(
  'the clock %s runs timers in order, and no cancelled one',
  async (_which, clock, pass) => {
    const ran: string[] = []
    const note = (text: string) => void ran.push(text)
    clock.after(2, note, 'second')
    clock.after(1, () => note('first'))
    const cancelled = clock.after(1, note, 'cancelled')
    cancelled[Symbol.dispose]()
    cancelled[Symbol.dispose]()
    const repeated = clock.every(3, () => note('again'))
    await pass(5)
    while (ran.length < 5) await pass(1)
    repeated[Symbol.dispose]()
    expect(ran.slice(0, 3)).toEqual(['first', 'second', 'again'])
    const { length } = ran
    await pass(10)
    expect(ran).toHaveLength(length)
    expect(ran).not.toContain('cancelled')
  },
)

test('a timer that a promise starts meanwhile runs at its own time, before later ones', async () => {
  const clock = new TestClock()
  const startedMs = clock.monotonicMs()
  const ran: [string, number][] = []
  const note = (text: string) => ran.push([text, clock.monotonicMs() - startedMs])
  const chain = async () => {
    await clock.sleep(10)
    await Promise.resolve()
    await clock.sleep(10)
    note('chain')
  }
  clock.after(25, () => note('late'))
  const chained = chain()
  await clock.advance(24)
  await chained
  expect(ran).toEqual([['chain', 20]])
  expect(clock.pending).toBe(1)
  await clock.advance(1)
  expect(ran).toEqual([
    ['chain', 20],
    ['late', 25],
  ])
  expect(clock.pending).toBe(0)
})

test('a stall runs overdue timers late, an interval once', async () => {
  const clock = new TestClock()
  const startedMs = clock.monotonicMs()
  const ran: [string, number][] = []
  const note = (text: string) => ran.push([text, clock.monotonicMs() - startedMs])
  using _repeated = clock.every(10, () => note('interval'))
  clock.after(5, () => note('timer'))
  await clock.stall(100)
  expect(ran).toEqual([
    ['timer', 100],
    ['interval', 100],
  ])
  await clock.advance(10)
  expect(ran.at(-1)).toEqual(['interval', 110])
})

test('runs until the work has ended, settles as it does, and reports an endless wait', async () => {
  const clock = new TestClock()
  const startedMs = clock.monotonicMs()
  expect(await clock.run(clock.sleep(90_000).then(() => 'done'))).toBe('done')
  expect(clock.monotonicMs() - startedMs).toBe(90_000)
  await expect(clock.run(Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  await expect(clock.run(new Promise(() => undefined))).rejects.toThrow('no timer is left')
})

test('wall time passes with monotonic time, and may be turned without it', async () => {
  const clock = new TestClock()
  const [monotonicMs, wallMs] = [clock.monotonicMs(), clock.wallMs()]
  clock.turnWall(-60_000)
  await clock.advance(1000)
  expect([clock.monotonicMs() - monotonicMs, clock.wallMs() - wallMs]).toEqual([1000, -59_000])
})
