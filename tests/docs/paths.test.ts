import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './pages'

/** Pages that lead contributors to files; those for users name none. */
const named = [
  'CONTRIBUTING.md',
  ...new Glob('docs/contribute/*.md').scanSync({ cwd: root }),
  ...new Glob('{bench,bin,cli,client,connect,dashboard,deploy,server,tests}/README.md').scanSync({
    cwd: root,
  }),
].filter((path) => path !== 'docs/contribute/faults.md')

/** A source in backticks, `ledger/fence-lease.ts`, without patterns such as `*.test.ts`. */
const source = /`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|tsx|mjs|txt|yml|yaml))`/g

/** Paths are given from the repository's root, from the folder of the page, or from the server's sources. */
const isThere = (page: string, path: string) =>
  ['', dirname(page), 'server/src'].some((base) => existsSync(join(root, base, path)))

test('contributors are led to files that exist', async () => {
  const missing: string[] = []
  for (const page of named) {
    const text = await Bun.file(join(root, page)).text()
    for (const [, path = ''] of text.matchAll(source)) {
      if (!isThere(page, path)) missing.push(`${page}: ${path}`)
    }
  }
  expect(missing).toEqual([])
})

test('a bare file name in the maps of changes is in the folder of the path before it', async () => {
  const map = await Bun.file(join(root, 'CONTRIBUTING.md')).text()
  const pages = await Bun.file(join(root, 'docs/contribute/changes.md')).text()
  const rows = map.match(/^\| (?:add|change|decide) .*$/gmu) ?? []
  const steps = pages.match(/^(?:\d\.|-) .*(?:\n +.*)*/gmu) ?? []
  expect(rows.length).toBeGreaterThanOrEqual(10)
  expect(steps.length).toBeGreaterThanOrEqual(40)
  const missing = [...rows, ...steps].flatMap((row) => {
    let folder = 'server/src'
    return [...row.matchAll(/`([\w./-]+\.(?:tsx?|json|yml))`/gu)].flatMap(([, path = '']) => {
      if (!path.includes('/'))
        return existsSync(join(root, folder, path)) ? [] : [`${folder}: ${path}`]
      folder = existsSync(join(root, path)) ? dirname(path) : dirname(`server/src/${path}`)
      return []
    })
  })
  expect(missing).toEqual([])
})

test('pages for users and operators name no sources', async () => {
  const naming: string[] = []
  for (const page of new Glob('docs/{guides,concepts,operate}/*.md').scanSync({ cwd: root })) {
    const text = await Bun.file(join(root, page)).text()
    if (/`(?:server|tests|cli)\/[\w/.-]+\.ts\b/.test(text)) naming.push(page)
  }
  expect(naming).toEqual([])
})
