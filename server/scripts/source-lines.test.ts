import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepLines } from './source-lines'

test('each line keeps the position of its first token, over lines without one', () => {
  // Line 1: column 0 -> 0:0 and column 4 -> 0:20. Line 2: none. Line 3, indented by two: column 0 -> 0:20, column 2 -> 7:2
  // of another source, column 6 -> 7:6.
  const map = { sources: ['a.ts', 'b.ts'], mappings: 'AAAA,IAAoB;;AAAA,ECOlB,IAAI' }
  expect(keepLines(map, 'const a\n\n  call()')).toEqual({
    sources: ['a.ts', 'b.ts'],
    mappings: 'AAAA;;ECOE',
  })
})

test('a stack trace of a bundle names file and line of the source', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  try {
    const source = join(folder, 'fails.ts')
    const lines = ['type Gone = string', '', 'function fail(text: Gone): never {']
    const rest = ['  throw new Error(text)', '}', 'fail("no")']
    await Bun.write(source, [...lines, ...rest].join('\n'))
    const outdir = join(folder, 'out')
    await Bun.build({ entrypoints: [source], target: 'bun', outdir, sourcemap: 'linked' })
    const program = join(outdir, 'fails.js')
    const map = await Bun.file(`${program}.map`).json()
    const { sources, mappings } = keepLines(map, await Bun.file(program).text())
    const parts = { version: 3, names: [], sourcesContent: sources.map(() => null) }
    await Bun.write(`${program}.map`, JSON.stringify({ ...parts, sources, mappings }))
    const { stderr } = Bun.spawnSync([process.execPath, program])
    expect(String(stderr)).toContain(`${source}:4:`)
    expect(String(stderr)).toContain(`${source}:6:`)
  } finally {
    await rm(folder, { recursive: true })
  }
})
