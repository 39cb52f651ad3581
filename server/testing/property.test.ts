import { expect, test } from 'bun:test'
import * as fc from './property'

const failing = fc.property(fc.nat(), (number) => number < 10)
const failingLater = fc.asyncProperty(fc.nat(), async (number) => {
  expect(number).toBeLessThan(10)
})

/** What a child process with this environment says a drawn number to be. */
async function drawn(environment: Record<string, string>): Promise<string> {
  const path = JSON.stringify(`${import.meta.dir}/property.ts`)
  const program = `
    const fc = await import(${path})
    const drawn = []
    fc.assert(fc.property(fc.nat(), (number) => void drawn.push(number)), { numRuns: 700 })
    console.log(drawn.length, Bun.hash(drawn.join()).toString(36))`
  const child = Bun.spawn([process.execPath, '-e', program], {
    env: { ...process.env, TEST_DEEP: '', PROPERTY_SEED: '', PROPERTY_RUNS: '', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()]
  return (await Promise.all(outputs)).join('').trim()
}

test('a failed property prints how to repeat it, also an asynchronous one', async () => {
  const again = new RegExp(`Again: PROPERTY_SEED=${fc.seed} PROPERTY_RUNS=\\d+`)
  expect(() => fc.assert(failing)).toThrow(again)
  const thrown = await fc.assert(failingLater).then(
    () => 'nothing failed',
    (error: unknown) => String(error),
  )
  expect(thrown).toMatch(again)
})

test('draws the same values each time, and others if a seed is set', async () => {
  const [first, second, other, random] = await Promise.all([
    drawn({}),
    drawn({}),
    drawn({ PROPERTY_SEED: '23' }),
    drawn({ PROPERTY_SEED: 'random' }),
  ])
  expect(first).toMatch(/^500 /)
  expect(second).toBe(first)
  expect(other).toMatch(/^500 /)
  expect(new Set([first, other, random]).size).toBe(3)
})

test('as many runs as the environment allows, and in a full run as many as the property requires', async () => {
  expect(await drawn({ PROPERTY_RUNS: '20' })).toMatch(/^20 /)
  expect(await drawn({ PROPERTY_RUNS: 'full' })).toMatch(/^700 /)
  expect(await drawn({ TEST_DEEP: 'true' })).toMatch(/^700 /)
})

test('an invalid seed or maximum is rejected, not replaced by the default', async () => {
  expect(await drawn({ PROPERTY_SEED: 'twelve' })).toContain('PROPERTY_SEED is "twelve"')
  expect(await drawn({ PROPERTY_RUNS: '0' })).toContain('PROPERTY_RUNS is "0"')
})
