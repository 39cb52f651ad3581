import { afterEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareDashboard } from '../../../bin/dashboard-bundle.mjs'

const roots: string[] = []

afterEach(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true })
})

/** Stands in for the bundler: writes its source into the page, and counts its runs. */
const script = `
  import { appendFileSync, copyFileSync } from 'node:fs'
  const [folder] = process.argv.slice(2)
  copyFileSync(import.meta.dir + '/page.html', folder + '/index.html')
  appendFileSync(import.meta.dir + '/../runs', 'x')`

async function checkout(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  roots.push(root)
  await mkdir(join(root, 'dashboard'))
  await writeFile(join(root, 'dashboard/build.ts'), script)
  await writeFile(join(root, 'dashboard/page.html'), 'one')
  await writeFile(join(root, 'package-lock.json'), '{}')
  return root
}

const prepare = (root: string) => prepareDashboard(root, process.execPath)
const runsOf = async (root: string) => (await readFile(join(root, 'runs'), 'utf8')).length
const pageOf = (folder: string | undefined) => readFile(join(folder ?? '', 'index.html'), 'utf8')

describe('finding N17: the dashboard is bundled before the start', () => {
  test('once for each version of its sources and of the packages', async () => {
    const root = await checkout()
    const first = await prepare(root)
    expect(await pageOf(first)).toBe('one')
    expect(await prepare(root)).toBe(first)
    expect(await runsOf(root)).toBe(1)
    await writeFile(join(root, 'dashboard/page.html'), 'two')
    const second = await prepare(root)
    expect(await pageOf(second)).toBe('two')
    await writeFile(join(root, 'package-lock.json'), '{"packages":{}}')
    expect(await prepare(root)).not.toBe(second)
    expect(await runsOf(root)).toBe(3)
  })

  test('by starts at the same time too, and old bundles are removed', async () => {
    const root = await checkout()
    const folders = await Promise.all([prepare(root), prepare(root), prepare(root)])
    expect(new Set(folders).size).toBe(1)
    expect(await pageOf(folders[0])).toBe('one')
    for (const [at, page] of ['two', 'three', 'four'].entries()) {
      for (const name of await readdir(join(root, 'dist/dashboard'))) {
        await utimes(join(root, 'dist/dashboard', name), at, at)
      }
      await writeFile(join(root, 'dashboard/page.html'), page)
      await prepare(root)
    }
    expect(await readdir(join(root, 'dist/dashboard'))).toHaveLength(3)
  })

  test('a failed bundle is undefined, and leaves nothing', async () => {
    const root = await checkout()
    await writeFile(join(root, 'dashboard/build.ts'), 'process.exit(1)')
    expect(await prepare(root)).toBeUndefined()
    expect(await readdir(join(root, 'dist/dashboard'))).toEqual([])
  })

  test('a bundler that cannot run gives no bundle', async () => {
    const root = await checkout()
    expect(await prepareDashboard(root, join(root, 'no-such-bun'))).toBeUndefined()
  })

  test.skipIf(process.getuid?.() === 0)('a checkout that is not writable has none', async () => {
    const root = await checkout()
    await chmod(root, 0o555)
    try {
      expect(await prepare(root)).toBeUndefined()
    } finally {
      await chmod(root, 0o755)
    }
  })

  test('a checkout without a dashboard has none', async () => {
    const root = await checkout()
    await rm(join(root, 'dashboard'), { recursive: true })
    expect(await prepare(root)).toBeUndefined()
  })
})
