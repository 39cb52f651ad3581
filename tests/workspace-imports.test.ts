import { expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'
import { exports as entryPoints, name as server } from '../server/package.json'

const root = join(import.meta.dir, '..')
const importPattern = /(?:from|import)\s*\(?\s*'([^']+)'/g

/** Yields the imports of the two programs beside the server. */
async function* imports() {
  for await (const file of new Glob('{cli,connect}/**/*.{ts,mts,mjs}').scan(root)) {
    if (file.includes('node_modules/')) continue
    const text = await Bun.file(join(root, file)).text()
    for (const [, specifier = ''] of text.matchAll(importPattern)) yield { file, specifier }
  }
}

test('cli and connect import the entry points of server/package.json, all of them and nothing else', async () => {
  const relativeImports: string[] = []
  const importedNames = new Set<string>()
  for await (const { file, specifier } of imports()) {
    const isRelative = specifier.startsWith('.')
    if (isRelative && normalize(join(dirname(file), specifier)).startsWith('server/')) {
      relativeImports.push(`${file} -> ${specifier}`)
    }
    if (specifier === server || specifier.startsWith(`${server}/`)) {
      importedNames.add(`.${specifier.slice(server.length)}`)
    }
  }
  expect(relativeImports).toEqual([])
  expect([...importedNames].toSorted()).toEqual(Object.keys(entryPoints).toSorted())
})

test('an entry point has the path of its file: below src, or in testing', () => {
  for (const [entryPoint, path] of Object.entries(entryPoints)) {
    const file = `${entryPoint.slice('./'.length)}.ts`
    expect(path).toBe(file.startsWith('testing/') ? `./${file}` : `./src/${file}`)
  }
})
