import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { version, workspaces } from '../../package.json'
import { root } from './pages'

const changelog = await Bun.file(join(root, 'CHANGELOG.md')).text()
const released = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/gm)].map(
  ([, number = '', date = '']) => ({ number, date }),
)

test('the newest version of CHANGELOG.md is that of every package and OpenAPI description', async () => {
  const manifests = ['package.json', ...workspaces.map((name) => `${name}/package.json`)]
  const packages = await Promise.all(
    manifests.map(async (path) => (await Bun.file(join(root, path)).json()).version),
  )
  const descriptions = await Promise.all(
    ['openapi.json', 'openapi-operator.json'].map(
      async (path) => (await Bun.file(join(root, path)).json()).info.version,
    ),
  )
  expect(new Set([released[0]?.number, ...packages, ...descriptions])).toEqual(new Set([version]))
})

test('versions of CHANGELOG.md are dated, newest first', () => {
  const headings = changelog.match(/^## .+$/gm) ?? []
  expect(headings.filter((heading) => heading !== '## [Unreleased]')).toHaveLength(released.length)
  const newestFirst = released.toSorted((a, b) => Bun.semver.order(b.number, a.number))
  expect(released).toEqual(newestFirst)
  const dates = released.map(({ date }) => date)
  expect(dates).toEqual(dates.toSorted().toReversed())
})

test('entries of CHANGELOG.md are in the sections of Keep a Changelog, on one line each', () => {
  const sections = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
  const used = [...changelog.matchAll(/^### (.+)$/gm)].map(([, name = '']) => name)
  expect(used.filter((name) => !sections.includes(name))).toEqual([])
  const entries = changelog.slice(changelog.indexOf('\n## ['))
  const strays = entries.split('\n').filter((line) => !/^(|## .+|### .+|- .+)$/.test(line))
  expect(strays).toEqual([])
})

test('the newest release of CHANGELOG.md fits on one screen', () => {
  const [, , newest = ''] = changelog.split(/^## /m)
  expect(newest).toStartWith(`[${version}]`)
  expect(newest.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
})

test('ROADMAP.md has at most 60 lines', async () => {
  const roadmap = await Bun.file(join(root, 'ROADMAP.md')).text()
  expect(roadmap.trimEnd().split('\n').length).toBeLessThanOrEqual(60)
})
