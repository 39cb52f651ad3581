import { join } from 'node:path'

/** A command that records figures, or that only passes or fails. */
export interface Source {
  name: string
  /** A script of package.json. */
  script: string
  args?: readonly string[]
  /** The test files that it runs, of which any part can run again. */
  files?: readonly string[]
  environment?: Readonly<Record<string, string>>
  limitMinutes: number
  /** Whether it measures; the exit code is the verdict of the others. */
  hasFigures: boolean
}

/** Suites by the environment that their command sets; the first pattern that matches a file counts. */
const suites: readonly { name: string; files: RegExp; environment: Record<string, string> }[] = [
  {
    name: 'fairness',
    files: /^tests\/faults\/hostile\//,
    environment: { TEST_EMBEDDED: 'true', TEST_DEEP: 'true' },
  },
  {
    name: 'faults',
    files: /^tests\/faults\/services\//,
    environment: {
      TEST_EMBEDDED: 'true',
      TEST_DEEP: 'true',
      KILLS: '200',
      KEYS_LOCKED_SECONDS: '3',
    },
  },
  {
    name: 'deep',
    files: /\.deep\.test\.ts$|^tests\/(faults|program)\//,
    environment: { TEST_DEEP: 'true' },
  },
  { name: 'test', files: /./, environment: {} },
]

/** What is measured by a command of its own. */
const commands: readonly Source[] = [
  { name: 'gate', script: 'bench', args: ['gate'], limitMinutes: 15, hasFigures: true },
  {
    name: 'clients',
    script: 'test:clients',
    environment: { CI: '1' },
    limitMinutes: 60,
    hasFigures: false,
  },
]

/** Finds the test files that record figures, from the root of the repository. */
export async function findFigureFiles(root: string): Promise<string[]> {
  const pattern = new Bun.Glob('{bench,cli,connect,dashboard,deploy,server,tests}/**/*.test.ts')
  const found: string[] = []
  for await (const file of pattern.scan({ cwd: root })) {
    if (file.includes('node_modules/')) continue
    if (await recordsFigures(join(root, file))) found.push(file)
  }
  return found.toSorted()
}

/** Tells whether a file only measures, by its name, or calls `recordFigure` or `record…Figures` of its support. */
async function recordsFigures(path: string): Promise<boolean> {
  return path.endsWith('.timing.test.ts') || /\brecord\w*Figure/.test(await Bun.file(path).text())
}

/** Groups files by suite, in the order of the suites. */
export function sourcesOf(files: readonly string[]): Source[] {
  const bySuite = Map.groupBy(files, (file) => suites.find((suite) => suite.files.test(file)))
  return suites.flatMap((suite) => {
    const own = bySuite.get(suite)
    if (!own) return []
    const { name, environment } = suite
    return [
      { name, script: 'test:timed', files: own, environment, limitMinutes: 60, hasFigures: true },
    ]
  })
}

/** Returns all sources of this checkout. */
export const findSources = async (root: string): Promise<Source[]> => [
  ...commands.filter(({ hasFigures }) => hasFigures),
  ...sourcesOf(await findFigureFiles(root)),
  ...commands.filter(({ hasFigures }) => !hasFigures),
]
