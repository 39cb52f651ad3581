// `node bin/tollgate.mjs run tests/ci/slow-files.ts`: writes tests/slow-files.json, the files that start first
// (bin/test-suites.mjs), from the reports of a whole `npm run ci` in dist/ci.
import { join } from 'node:path'
import { parseReport, type FileResult } from './junit'

const root = join(import.meta.dir, '../..')
const listPath = join(root, 'tests/slow-files.json')
/** Shorter files fill the gaps, in any order. */
const slowSeconds = 10

/** Returns the files that take long, the slowest first; of a file that several stages run, the longest. */
export function findSlow(results: readonly FileResult[]): Record<string, number> {
  const longest = new Map<string, number>()
  for (const { file, seconds } of results)
    longest.set(file, Math.max(longest.get(file) ?? 0, Math.round(seconds)))
  const slow = [...longest].filter(([, seconds]) => seconds >= slowSeconds)
  return Object.fromEntries(slow.toSorted(([, a], [, b]) => b - a))
}

/** Reads the list. */
export const readSlow = (): Promise<Record<string, number>> => Bun.file(listPath).json()

if (import.meta.main) {
  const results: FileResult[] = []
  for await (const path of new Bun.Glob('dist/ci/*/report*.xml').scan({ cwd: root }))
    results.push(...parseReport(await Bun.file(join(root, path)).text()).files)
  if (results.length === 0) throw new Error('there are no reports in dist/ci: run `npm run ci`')
  await Bun.write(listPath, `${JSON.stringify(findSlow(results), null, 2)}\n`)
}
