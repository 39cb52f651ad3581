import { expect, test } from 'bun:test'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findUnloaded, parseReport } from './junit'

const eventually = join(import.meta.dir, '../../server/testing/eventually')

/** The files of a suite in which everything fails that can. */
const files = {
  'wrong.test.ts': `
    import { describe, expect, test } from 'bun:test'
    describe('a "group"', () => {
      test('counts <twice> & more', () => expect({ a: 1 }).toEqual({ a: 2 }))
      test('holds', () => {})
      test.skip('rests', () => {})
    })`,
  'slow.test.ts': `
    import { beforeAll, test } from 'bun:test'
    import { eventually } from ${JSON.stringify(eventually)}
    test('never ends', () => new Promise(() => {}), 50)
    test('waits', () => eventually(() => false, 20), 60_000)`,
  'broken.test.ts': `throw new Error('the file is broken')`,
}

test('a report of bun test is read with its failures, and a file that cannot be loaded is one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-junit-'))
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const args = ['test', '--parallel=2', '--reporter=junit', '--reporter-outfile=out.xml']
    const { CI: _, ...env } = process.env
    const child = Bun.spawn([process.execPath, ...args], { cwd: folder, env, stderr: 'pipe' })
    const output = await child.stderr.text()
    const report = parseReport(await readFile(join(folder, 'out.xml'), 'utf8'))
    expect([report.passed, report.failed, report.skipped]).toEqual([1, 3, 1])
    expect(report.files.map(({ file }) => file).toSorted()).toEqual([
      'slow.test.ts',
      'wrong.test.ts',
    ])
    const byTest = new Map(report.failures.map((failure) => [failure.test, failure]))
    expect(byTest.get('a "group" > counts <twice> & more')).toMatchObject({
      file: 'wrong.test.ts',
      type: 'AssertionError',
      text: expect.stringContaining('expect(received).toEqual(expected)'),
    })
    expect(byTest.get('never ends')?.type).toBe('TimeoutError')
    expect(byTest.get('waits')).toMatchObject({
      type: 'WaitTimeoutError',
      text: expect.stringContaining('not within 0.02 s: '),
    })
    expect(findUnloaded(output, folder)).toMatchObject([
      { file: 'broken.test.ts', text: expect.stringContaining('the file is broken') },
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
