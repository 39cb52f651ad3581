// `npm run test:hostile`: attacks by a customer and their effects, as one report. Measured attacks run alone,
// one after the other; the tables, which only assert, run in parallel after them. With words of file names,
// `npm run test:hostile wallet mail`, it runs only those attacks. `TEST_JUNIT` names the JUnit reports to keep, without
// their endings, `-attacks.xml` and `-tables.xml`.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { reportVariable, type AttackRow } from './report'

const root = join(import.meta.dir, '../../..')
const reportPath = join(root, 'dist/hostile.md')

/** Files that only assert, as one line of the report. */
interface Table {
  attack: string
  cost: string
  effect: string
  files: readonly string[]
}

const tables: readonly Table[] = [
  {
    attack: 'Access to objects of other accounts, by every route, key and role',
    cost: 'an account, and the ids of others',
    effect: 'none: objects of others are 404',
    files: ['tests/api/authorization/*.test.ts'],
  },
  {
    attack: 'Internal addresses (SSRF)',
    cost: 'a connection with a custom address',
    effect: 'none: rejected before a byte is sent',
    files: [
      'server/src/upstream/http/{address,user-url,names,guarded-egress,no-proxy}.test.ts',
      'tests/faults/egress/*.test.ts',
    ],
  },
  {
    attack: 'SSRF against a network with internal servers',
    cost: 'a connection with a custom address',
    effect: 'none: no internal server is connected to',
    files: ['tests/faults/services/egress-namespace.test.ts'],
  },
  {
    attack: 'Request smuggling: requests that two parsers delimit differently',
    cost: 'a socket',
    effect: 'none: one request, one answer, or the end of the connection',
    files: ['tests/faults/http/{smuggling,edge}.test.ts'],
  },
  {
    attack: 'Response smuggling: upstream answers with ambiguous framing',
    cost: 'a custom upstream',
    effect: 'none: an error, and the connection is not reused',
    files: [
      'server/src/upstream/http/{answer*,guarded-answers,connection,transport,hostile-answers,vectors}.test.ts',
    ],
  },
  {
    attack: 'Guessed passwords, codes and sign-in links',
    cost: 'requests from any number of addresses',
    effect: 'none: limited by address and by account',
    files: ['tests/api/sign-in/tries.deep.test.ts'],
  },
]

/** They measure nothing, and wait for clocks and processes now and then. */
const tablesAtOnce = availableParallelism() + 2

/** The result of the tests of one file. */
interface Ended {
  tests: number
  failures: number
  skipped: number
  /** Names of the tests that failed. */
  failed: string[]
}

/** Reads the results by file from a JUnit report; those of `describe` are nested deeper. */
async function readEnded(path: string): Promise<Map<string, Ended>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const suites = text.matchAll(
    /^ {2}<testsuite name="[^"]*" file="([^"]*)" tests="(\d+)" assertions="\d+" failures="(\d+)" skipped="(\d+)"/gm,
  )
  const ended = new Map<string, Ended>(
    [...suites].map(([, file = '', tests, failures, skipped]) => [
      file,
      { tests: Number(tests), failures: Number(failures), skipped: Number(skipped), failed: [] },
    ]),
  )
  const failures = text.matchAll(/<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*>\s*<failure/g)
  for (const [, name = '', file = ''] of failures) ended.get(file)?.failed.push(name)
  return ended
}

/** Lists the files of patterns. Throws where there is none, as an empty table would always pass. */
async function listFiles(patterns: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) => {
      const files = await Array.fromAsync(new Bun.Glob(pattern).scan({ cwd: root }))
      if (files.length === 0) throw new Error(`no file matches ${pattern}`)
      return files
    }),
  )
  return found.flat().toSorted()
}

/** Runs test files, and resolves with the result of each. */
async function runTests(
  files: readonly string[],
  { kind, folder, parallel }: { kind: 'attacks' | 'tables'; folder: string; parallel: number },
): Promise<{ code: number; ended: Map<string, Ended> }> {
  const outcome = `${process.env['TEST_JUNIT'] ?? join(folder, 'junit')}-${kind}.xml`
  // An earlier report would stand for a run that wrote none.
  await rm(outcome, { force: true })
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--timeout=60000',
      `--parallel=${parallel}`,
      '--reporter=junit',
      `--reporter-outfile=${outcome}`,
      ...files,
    ],
    {
      cwd: root,
      env: { ...process.env, [reportVariable]: join(folder, 'rows.jsonl') },
      stdout: 'inherit',
      stderr: 'inherit',
    },
  )
  const code = await child.exited
  return { code, ended: await readEnded(outcome) }
}

const Row = z.object({
  attack: z.string(),
  cost: z.string(),
  effect: z.string(),
  isHeld: z.boolean(),
})

async function readRows(folder: string): Promise<AttackRow[]> {
  const text = await readFile(join(folder, 'rows.jsonl'), 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => Row.parse(JSON.parse(line)))
}

const lineOf = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`

const toLine = ({ attack, cost, effect, isHeld }: AttackRow) =>
  lineOf([attack, cost, effect, isHeld ? 'held' : '**broken**'])

function failedLine(file: string, ended: Ended | undefined): string {
  const names = ended ? ended.failed.join('; ') : 'the file, which did not complete'
  return lineOf([file, '', `failed: ${names}`, '**broken**'])
}

async function tableLine(table: Table, ended: ReadonlyMap<string, Ended>): Promise<string> {
  const files = await listFiles(table.files)
  const sum = { tests: 0, failures: 0, skipped: 0, missing: 0 }
  const names: string[] = []
  for (const file of files) {
    const one = ended.get(file)
    if (!one) sum.missing += 1
    sum.tests += one?.tests ?? 0
    sum.failures += one?.failures ?? 0
    sum.skipped += one?.skipped ?? 0
    names.push(...(one?.failed ?? [file]))
  }
  const { tests, failures, skipped, missing } = sum
  const isHeld = failures === 0 && missing === 0
  const words = [
    isHeld
      ? 'held'
      : `**broken**: ${failures} failed, ${missing} files did not run: ${names.join('; ')}`,
    `${tests} tests`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  return lineOf([table.attack, table.cost, table.effect, words.join(', ')])
}

/** Returns the attacks whose file names contain one of the words; all without words. */
async function chooseAttacks(words: readonly string[]): Promise<string[]> {
  const tests = await listFiles(['tests/faults/hostile/*.test.ts'])
  const all = tests.filter((file) => !file.endsWith('.timing.test.ts'))
  if (words.length === 0) return all
  const chosen = all.filter((file) => words.some((word) => file.includes(word)))
  if (chosen.length === 0) throw new Error(`no attack matches ${words.join(', ')}`)
  return chosen
}

async function main(words: readonly string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-hostile-'))
  const beganAtMs = performance.now()
  try {
    const attacks = await chooseAttacks(words)
    const measured = await runTests(attacks, { kind: 'attacks', folder, parallel: 1 })
    const shown = words.length === 0 ? tables : []
    const files = await Promise.all(shown.map((table) => listFiles(table.files)))
    const asserted =
      shown.length === 0
        ? { code: 0, ended: new Map<string, Ended>() }
        : await runTests(files.flat(), { kind: 'tables', folder, parallel: tablesAtOnce })
    const failed = attacks.filter((file) => (measured.ended.get(file)?.failures ?? 1) > 0)
    const lines = [
      '| attack | cost to the attacker | effect on other accounts | verdict |',
      '|---|---|---|---|',
      ...(await readRows(folder)).map(toLine),
      ...failed.map((file) => failedLine(file, measured.ended.get(file))),
      ...(await Promise.all(shown.map((table) => tableLine(table, asserted.ended)))),
    ]
    const text = `# The hostile customer\n\n${lines.join('\n')}\n`
    await mkdir(join(root, 'dist'), { recursive: true })
    await Bun.write(reportPath, text)
    console.log(`\n${text}`)
    const seconds = Math.round((performance.now() - beganAtMs) / 1000)
    console.log(`${seconds} s; the report is in dist/hostile.md`)
    return measured.code || asserted.code
  } finally {
    await rm(folder, { recursive: true })
  }
}

process.exit(await main(process.argv.slice(2)))
