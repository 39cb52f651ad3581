import { join } from 'node:path'
import { readSource, testFiles } from './clocks'

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
const rules = [
  [/\b(?:nobody|whoever|somebody|anybody|someone|anyone)\b/i, 'client, caller, account, operator'],
  [/\b(?:he|his|him|himself)\b/, 'its, their, or the noun'],
  [/\b(?:told|tells?|telling)\b/, 'shows, reports, reveals, receives'],
  [/\bsays? so\b/, 'reports, names, is marked'],
  [/\bit says\b/, 'it reports, the given …'],
  [/\b(?:is|are) none\b/, 'is invalid, unset, missing, rejected'],
  [/\ball the same\b/, 'still'],
  [/\bno more\b|\ball there is\b/, 'at most, exactly'],
  [/\bones? (?:that|which|who|whose)\b/, 'the noun'],
  [/(?<![$%{])\bwhat\b/, 'the noun'],
  [/\b(?:whatever|wherever|whenever)\b/, 'for any, at every, in any'],
  [/\bgets? (?!through|around)/, 'receives'],
  [/\bone['’]s own\b/, 'the caller’s own, its own'],
  [/\basks?\b|\basked\b(?!:)/, 'requests, requires, calls, queries'],
  [/(?<!there )\b(?:is|are|was|were) no (?!longer)/, 'is not a, is an invalid'],
  [/\bsaid\b|\bsays? (?:what|which|how|when|where|why|who|that|it|nothing)\b/, 'reports, names'],
  [/\b(?:is|are|was|were) (?:not )?there\b/, 'exists, is missing'],
  [/\b(?:is|are|was|were|be) refused\b/, 'is rejected'],
  [/\b(?:dearer|dearest|for ever)\b/, 'more expensive, without end'],
  [
    new RegExp(
      `${front}(?:(?:and|or|nor|but|so) )?(?:what|whatever|who|whose|whoever|where|wherever|which|how|however|that|those)\\b`,
    ),
    'the noun as the subject',
  ],
  [new RegExp(`${front}(?:and|or|nor|but|so)\\b`), 'a whole sentence'],
] as const

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
export const adviceFor = (name: string): string[] =>
  rules.flatMap(([pattern, advice]) => {
    const found = pattern.exec(name)?.[0]
    return found === undefined ? [] : [`"${found}": ${advice}`]
  })

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
