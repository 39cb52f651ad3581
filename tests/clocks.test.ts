import { describe, expect, test } from 'bun:test'
import { countAll, countUses, isTiming, readList, readSource, testFiles } from './clocks'

/** A test asserts a state, or measures time, never both: one that does both fails on a machine that is only busy. */
describe('tests outside of *.timing.test.ts', () => {
  test('use clocks, sleeps and bounds on durations exactly as often as the list says, new files never', async () => {
    const counted = await countAll()
    const listed = await readList()
    const complaints = [...new Set([...Object.keys(counted), ...Object.keys(listed)])].flatMap(
      (path) => {
        const [count, allowed] = [counted[path] ?? 0, listed[path] ?? 0]
        if (count > allowed) {
          return `${path} uses time ${count} times, ${allowed} are allowed: await a state with \`eventually\`, or measure in a *.timing.test.ts`
        }
        if (count < allowed) {
          return `${path} uses time ${count} times, fewer than the ${allowed} of tests/clock-uses.json, which is to be shortened: node bin/tollgate.mjs run tests/clocks.ts`
        }
        return []
      },
    )
    expect(complaints).toEqual([])
  })

  test('are all found: each folder that has tests, and many files', async () => {
    const found = await testFiles()
    expect(found.length).toBeGreaterThan(900)
    const folders = new Set(found.map((path) => path.split('/')[0]))
    expect([...folders]).toEqual(['bench', 'connect', 'dashboard', 'server', 'tests'])
  })
})

test('*.timing.test.ts record figures, which `npm run measure` judges, or belong to bench', async () => {
  const timing = (await testFiles()).filter(isTiming)
  expect(timing).not.toEqual([])
  const idle: string[] = []
  for (const path of timing.filter((each) => !each.startsWith('bench/'))) {
    if (!/\brecord\w*Figure/.test(await readSource(path))) idle.push(path)
  }
  expect(idle).toEqual([])
})

describe('uses of time', () => {
  test.each([
    ['const startedAt = performance.now()', 1],
    ['f(() => performance.now() - startedAt)', 1],
    ['const { now } = performance', 1],
    ['globalThis.performance.now()', 1],
    ['Bun.nanoseconds(); process.hrtime.bigint()', 2],
    ["import { setTimeout as sleep } from 'node:timers/promises'; await sleep(5)", 1],
    ["import { expect } from 'bun:test'; import { sleep } from 'bun'; await sleep(5)", 1],
    ['await Bun.sleep(1)', 1],
    ['await Promise.race([ended, Bun.sleep(waitMs)])', 1],
    ['Bun.sleepSync(300)', 1],
    ['await new Promise((resolve) => setTimeout(resolve, 50))', 1],
    ['const tookMs = Date.now() - startedAt', 1],
    ['while (Date.now() < end) await step()', 1],
    ['const lifeMs = Date.parse(body.expires_at) - Date.now()', 1],
    ['expect(stream.tookMs).toBeGreaterThan(idleMs)', 1],
    ['expect(await eventually(() => state.isOver)).toBeLessThan(500)', 1],
  ])('%s', (source, count) => {
    expect(countUses(source)).toBe(count)
  })

  test.each([
    ['await Bun.sleep(0)'],
    ['// performance.now()'],
    ["const program = 'await Bun.sleep(5)'"],
    ['const program = `setTimeout(stop, ${lifeMs})`'],
    ['let timer: ReturnType<typeof setTimeout> | undefined'],
    ['const read = (performance: Figures) => performance.now()'],
    ['await createKey({ expires_at: new Date(Date.now() + 86_400_000) })'],
    ['const dayAgo = new Date(Date.now() - 86_400_000).toISOString()'],
    ['sign(body, Math.floor(Date.now() / 1000))'],
    ['expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now())'],
    ["recordFigure('the end', await eventually(() => isOver()), { unit: 'ms', atMost: 500 })"],
  ])('not %s', (source) => {
    expect(countUses(source)).toBe(0)
  })
})
