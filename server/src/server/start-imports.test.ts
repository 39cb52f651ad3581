import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'

const main = join(import.meta.dir, '../main.ts')
const scanner = new Bun.Transpiler({ loader: 'ts' })

/** Lists the packages that a module and those that it imports load with it, without what they load when they need it. */
async function packagesOf(start: string): Promise<Set<string>> {
  const packages = new Set<string>()
  const open = new Set([start])
  for (const path of open) {
    const imports = scanner.scanImports(await Bun.file(path).text())
    for (const { path: specifier, kind } of imports) {
      if (kind !== 'import-statement' || /^(node|bun):/.test(specifier)) continue
      if (!specifier.startsWith('.')) packages.add(toPackage(specifier))
      else if (!specifier.endsWith('.json')) open.add(Bun.resolveSync(specifier, dirname(path)))
    }
  }
  return packages
}

const toPackage = (specifier: string) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier

// A package that only some installations need takes memory in all of them: it is imported where it is used.
test('a start loads these packages, and no others before they are used', async () => {
  expect([...(await packagesOf(main))].toSorted()).toEqual([
    '@fastify/busboy',
    'aws4fetch',
    'hono',
    'ipaddr.js',
    'kysely',
    'lru-cache',
    'music-metadata',
    'pg',
    'pino',
    'strtok3',
    // The paths of its files.
    'swagger-ui-dist',
    'zod',
  ])
})
