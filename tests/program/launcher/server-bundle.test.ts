import { afterEach, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { prepareServer } from '../../../bin/server-bundle.mjs'

const roots: string[] = []

afterEach(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true })
})

/** Stands in for the bundler: the program is the source, and the package beside it its only input. */
const script = `
  import { copyFileSync, statSync, writeFileSync } from 'node:fs'
  const root = import.meta.dir + '/../..'
  const [folder] = process.argv.slice(2)
  copyFileSync(root + '/server/src/main.ts', folder + '/main.js')
  const path = root + '/node_modules/part/index.js'
  const { size, mtimeMs } = statSync(path)
  writeFileSync(folder + '/packages.json', JSON.stringify([[path, size, Math.trunc(mtimeMs)]]))`

const files = {
  'server/scripts/bundle-server.ts': script,
  'server/scripts/source-lines.ts': '',
  'server/src/main.ts': 'one',
  'server/src/main.test.ts': '',
  'server/package.json': '{}',
  'package-lock.json': '{}',
  'node_modules/.package-lock.json': '{}',
  'node_modules/part/index.js': '',
}

async function checkout(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-test-')))
  roots.push(root)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return root
}

const prepare = (root: string) => prepareServer(root, process.execPath, 1e9)

test.each([
  'server/src/main.ts',
  'server/src/new.ts',
  'server/package.json',
  'server/scripts/bundle-server.ts',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'node_modules/part/index.js',
])('a change of %s gives another bundle', async (path) => {
  const root = await checkout()
  const first = await prepare(root)
  expect(first).toStartWith(join(root, 'dist/server'))
  expect(await prepare(root)).toBe(first)
  await writeFile(join(root, path), path.endsWith('.json') ? '{"a":1}' : `${script}\n//`)
  const second = await prepare(root)
  expect(second).not.toBe(first)
  expect(await readFile(second, 'utf8')).toBe(
    await readFile(join(root, 'server/src/main.ts'), 'utf8'),
  )
  expect(await prepare(root)).toBe(second)
})

test('a change of a test, which is in no bundle, keeps it', async () => {
  const root = await checkout()
  const first = await prepare(root)
  await writeFile(join(root, 'server/src/main.test.ts'), 'test')
  expect(await prepare(root)).toBe(first)
})

test('sources that change while they are bundled are not bundled under the version before', async () => {
  const root = await checkout()
  const sources = join(root, 'server/src/main.ts')
  const changing = `${script}\nwriteFileSync(root + '/server/src/main.ts', 'two')`
  await writeFile(join(root, 'server/scripts/bundle-server.ts'), changing)
  expect(await prepare(root)).toBe(sources)
  expect(await readdir(join(root, 'dist/server'))).toEqual([])
})

test('the sources run where they cannot be bundled, or where there is too little memory for the bundler', async () => {
  const root = await checkout()
  const sources = join(root, 'server/src/main.ts')
  expect(await prepareServer(root, process.execPath, 256e6)).toBe(sources)
  await writeFile(join(root, 'server/scripts/bundle-server.ts'), 'process.exit(1)')
  expect(await prepare(root)).toBe(sources)
})
