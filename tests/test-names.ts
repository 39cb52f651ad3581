import { join } from 'node:path'
import { readSource, testFiles } from './clocks'
import { adviceFrom, dialect, type WordingRule } from './dialect'

/**
 * Finds names of tests and of groups that are not in the field's words. A name states subject, verb and result in active
 * voice (`the client receives 429`), or continues the name of its group (`a key` › `is rejected after its end`). Ids of rows and
 * findings stand in front of it.
 *
 * `node bin/tollgate.mjs run tests/test-names.ts` prints all names; with `--list` it shortens the list of exceptions, and
 * never lengthens it.
 */
const listPath = join(import.meta.dir, 'test-name-exceptions.json')

/** `finding V11:`, `A01, A02:`, `findings P4, P8:`, `21.3:`, `%s:`. */
const front = String.raw`^(?:(?:findings? )?[A-Z]{1,2}\d+(?:,? (?:finding )?[A-Z]{1,2}\d+)*:? |\d+\.\d+:? |[%$][\w{}#]+: )*`

/** Patterns that no name may match, each with what to write instead. */
const rules: readonly WordingRule[] = [
  ...dialect,
  [
    new RegExp(
      `${front}(?:(?:and|or|nor|but|so) )?(?:what|whatever|who|whose|whoever|where|wherever|which|how|however|that|those)\\b`,
    ),
    'the noun as the subject',
  ],
  [new RegExp(`${front}(?:and|or|nor|but|so)\\b`), 'a whole sentence'],
]

export interface TestName {
  path: string
  name: string
}

const text = String.raw`(['"\x60])((?:\\.|(?!\1)[^\\])*)\1`
/** `test('…`, `describe.if(isWhole)('…`, and `])('…` behind the table of `test.each`. */
const titled = new RegExp(
  String.raw`(?:\b(?:test|it|describe)(?:\.\w+(?:\([^()\n]*(?:\([^()\n]*\))*[^()\n]*\))?)*|[\])])\(\s*${text},\s*(?:\(|async\b|\w+\))`,
  'g',
)
/** The first column of a table, which is the name of its test. */
const row = new RegExp(String.raw`^\s*\[\s*${text},`, 'gm')
/** A text of several words; others are data. */
const sentence = /^[a-z][a-zA-Z’]*(?:,? [\w’']+){2,}/

/** Returns the names in the source of a test. */
export function namesIn(source: string): string[] {
  const titles = [...source.matchAll(titled)].map(([, , name = '']) => name)
  const rows = [...source.matchAll(row)].map(([, , name = '']) => name)
  return [...titles, ...rows.filter((name) => sentence.test(name))]
}

/** Returns what to write instead of each dialect phrase that a name has. */
export const adviceFor = (name: string): string[] => adviceFrom(name, rules)

/** Returns the names of all test files. */
export async function allNames(): Promise<TestName[]> {
  const names: TestName[] = []
  for (const path of await testFiles()) {
    for (const name of namesIn(await readSource(path))) names.push({ path, name })
  }
  return names
}

/** Reads the names that may stay, by file. */
export const readExceptions = (): Promise<Record<string, string[]>> => Bun.file(listPath).json()

async function shortenList() {
  const bad = (await allNames()).filter(({ name }) => adviceFor(name).length > 0)
  const shortened = Object.entries(await readExceptions()).flatMap(([path, listed]) => {
    const left = listed.filter((name) =>
      bad.some((each) => each.path === path && each.name === name),
    )
    return left.length > 0 ? [[path, left] as const] : []
  })
  await Bun.write(listPath, `${JSON.stringify(Object.fromEntries(shortened), null, 2)}\n`)
}

if (import.meta.main) {
  if (process.argv.includes('--list')) await shortenList()
  else for (const { path, name } of await allNames()) console.log(`${path}: ${name}`)
}
