import { join } from 'node:path'

const root = join(import.meta.dir, '..')
/** Where the table is. */
export const tablePath = join(root, 'docs/contribute/faults.md')

/**
 * `node bin/tollgate.mjs run tests/fault-table.ts` writes into the table which tests there are. A row's id and words are
 * written by hand, and so is why it has no test, after a dash.
 */
const row = /^\| ([A-Z]\d\d) \| (.+?) \| (.+) \|$/
const noTest = /^– ./
/** In a text: comments name rows too. */
const named = /['"`/][^'"`\n]*?\b([A-Z]\d\d)\b[^\n]*/g
const id = /(?<!\/)\b[A-Z](?!00)\d\d\b/g
/** Findings of trials have ids that are like those of faults. */
const ofFindings = /\bfinding [A-Z]\d+\b/g
/** Tests of the wire format have ids of their own that begin with R. */
const limits = /^(server\/src\/limits|tests\/(gateway\/limits|faults\/services))\//

/** Files of tests, and of what they are made from, by the ids of the rows that they name. */
async function namings(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const folder of ['server/src', 'server/testing', 'tests', 'bench']) {
    const pattern = folder === 'server/testing' ? '**/*.ts' : '**/*.test.ts'
    const files = new Bun.Glob(pattern).scan({ cwd: join(root, folder) })
    for await (const file of files) {
      if (file.includes('node_modules')) continue
      const path = `${folder}/${file}`
      for (const each of idsIn(await Bun.file(join(root, path)).text())) {
        if (each.startsWith('R') && !limits.test(path)) continue
        found.set(each, (found.get(each) ?? new Set()).add(path))
      }
    }
  }
  return found
}

/** The ids that texts of a file name. */
function idsIn(source: string): Set<string> {
  const code = source
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .join('\n')
  const texts = [...code.matchAll(named)].map(([text]) => text.replaceAll(ofFindings, ''))
  return new Set(texts.flatMap((text) => text.match(id) ?? []))
}

const link = (path: string) => `[${path.split('/').at(-1)}](../../${path})`

export interface Table {
  /** The table as it is to be. */
  text: string
  /** Rows that have neither a test nor a reason, and files that name what is no row. */
  complaints: string[]
}

/** Reads the table and puts into it which tests there are. */
export async function currentTable(): Promise<Table> {
  const found = await namings()
  const complaints: string[] = []
  const rows = new Set<string>()
  const lines = (await Bun.file(tablePath).text()).split('\n').map((line) => {
    const [, name = '', words = '', reason = ''] = row.exec(line) ?? []
    if (name === '') return line
    if (rows.has(name)) complaints.push(`${name} is there twice`)
    rows.add(name)
    const files = [...(found.get(name) ?? [])].toSorted()
    if (files.length === 0 && !noTest.test(reason))
      complaints.push(`${name} has no test, and no reason`)
    const tests = files.length > 0 ? files.map(link).join(', ') : reason
    return `| ${name} | ${words} | ${tests} |`
  })
  const groups = new Set([...rows].map(([group]) => group))
  for (const [name, files] of found) {
    if (groups.has(name[0]) && !rows.has(name)) {
      complaints.push(`${name} is no row, but ${[...files].join(', ')} names it`)
    }
  }
  return { text: lines.join('\n'), complaints }
}

if (import.meta.main) {
  const { text, complaints } = await currentTable()
  await Bun.write(tablePath, text)
  for (const complaint of complaints) console.error(complaint)
  process.exitCode = complaints.length > 0 ? 1 : 0
}
