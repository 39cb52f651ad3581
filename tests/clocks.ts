import { join } from 'node:path'

/**
 * Counts what makes the result of a test depend on time: clocks that it reads, sleeps, and bounds on durations that
 * others measured. What only measures is named `*.timing.test.ts`, and free.
 *
 * `Date.now()` measures where it is subtracted or compared (`Date.now() - startedAt`, `Date.now() < end`); as an input, in
 * `new Date(…)`, a row, a header or what a timestamp is expected to be, it is none.
 *
 * `node bin/tollgate.mjs run tests/clocks.ts` shortens the list of exceptions, and never lengthens it.
 */
const root = join(import.meta.dir, '..')
const listPath = join(import.meta.dir, 'clock-uses.json')
const folders = ['server', 'cli', 'connect', 'dashboard', 'bench', 'deploy', 'tests']

/** The runtime's own parser puts them in place of clocks, so that texts, comments and types do not count. */
const clock = '$clock'
const now = '$now'
const sleep = '$sleep'
const markers = {
  performance: clock,
  'globalThis.performance': clock,
  'Bun.nanoseconds': clock,
  'process.hrtime': clock,
  'Date.now': now,
  'Bun.sleep': sleep,
  'Bun.sleepSync': sleep,
  setTimeout: sleep,
  'globalThis.setTimeout': sleep,
}
const parser = new Bun.Transpiler({ loader: 'ts', define: markers, deadCodeElimination: false })

const uses = [
  /\$clock\b/g,
  /^import\b[^;]* from "(?:node:)?(?:timers|perf_hooks)(?:\/promises)?"/gm,
  /^import\b[^;]*\bsleep(?:Sync)?\b[^;]* from "bun"/gm,
  // A sleep of 0 lets others run.
  /\$sleep\b(?!\(0\))/g,
  // Within `new Date(…)`, hours before now are a timestamp.
  /(?<!new Date\()\$now\(\) (?:-|[<>]=?) /g,
  / (?:-|[<>]=?) \$now\(\)/g,
  /^\s*expect\((?:[^\n]*\b(?:took|elapsed|lasted|waited)(?:Ms|Seconds)?|await eventually\([^\n]*\))\)\.(?:not\.)?toBe(?:Less|Greater|Within|Close)/gm,
] as const

/** Counts the uses of time in the source of a test. */
export function countUses(source: string): number {
  const code = parser.transformSync(source)
  return uses.reduce((sum, use) => sum + [...code.matchAll(use)].length, 0)
}

/** Returns the paths of all test files, from the root of the repository. */
export async function testFiles(): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    for await (const file of new Bun.Glob('**/*.test.ts').scan({ cwd: join(root, folder) })) {
      if (!file.includes('node_modules/')) found.push(`${folder}/${file}`)
    }
  }
  return found.toSorted()
}

export const isTiming = (path: string): boolean => path.endsWith('.timing.test.ts')

export const readSource = (path: string): Promise<string> => Bun.file(join(root, path)).text()

/** Counts the uses in all files that have any and do not only measure. */
export async function countAll(): Promise<Record<string, number>> {
  const counted: Record<string, number> = {}
  for (const path of (await testFiles()).filter((each) => !isTiming(each))) {
    const count = countUses(await readSource(path))
    if (count > 0) counted[path] = count
  }
  return counted
}

/** Reads how many uses each file still has. */
export const readList = (): Promise<Record<string, number>> => Bun.file(listPath).json()

if (import.meta.main) {
  const counted = await countAll()
  const shortened = Object.entries(await readList()).flatMap(([path, listed]) => {
    const count = Math.min(listed, counted[path] ?? 0)
    return count > 0 ? [[path, count] as const] : []
  })
  await Bun.write(listPath, `${JSON.stringify(Object.fromEntries(shortened), null, 2)}\n`)
}
