import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'

const source = join(import.meta.dir, '..')

test('a component declares no query: the queries.ts of its feature does', async () => {
  const files = await Array.fromAsync(new Glob('**/*.tsx').scan({ cwd: source }))
  expect(files.length).toBeGreaterThan(100)
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await Bun.file(join(source, file)).text() })),
  )
  const declaring = texts.filter(({ text }) => /\bqueryFn\b/.test(text)).map(({ file }) => file)
  expect(declaring).toEqual([])
})
