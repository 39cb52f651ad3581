import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { accountNavigation, operatorNavigation } from './navigation'

const linksOf = (groups: typeof accountNavigation | typeof operatorNavigation) =>
  groups.flatMap(({ links }) => [...links])

/** The paths in a file of routes. */
async function pathsOf(file: string): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, file)).text()
  return [...text.matchAll(/\bpath: '([^']+)'/g)].map(([, path = '']) => path)
}

test.each([
  ['account', accountNavigation],
  ['operator', operatorNavigation],
] as const)('the %s navigation has each address and each label once', (_name, groups) => {
  const links = linksOf(groups)
  expect(new Set(links.map(({ to }) => to)).size).toBe(links.length)
  expect(new Set(links.map(({ label }) => label)).size).toBe(links.length)
})

test('every link of the account navigation leads to a route', async () => {
  const paths = new Set(await pathsOf('router.tsx'))
  expect(linksOf(accountNavigation).filter(({ to }) => !paths.has(to))).toEqual([])
})

test('every link of the operator navigation leads to a route below /operator', async () => {
  const paths = new Set((await pathsOf('operator-routes.tsx')).map((path) => `/operator${path}`))
  expect(linksOf(operatorNavigation).filter(({ to }) => !paths.has(to))).toEqual([])
})
