import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'
import { readContract } from './contract-pages'
import { readPages, root } from './pages'

const sections = new Set((await readContract()).map(({ number }) => number))
const pages = new Map((await readPages()).map((page) => [page.path, page]))
const migrations = await Array.fromAsync(
  new Glob('*.ts').scan({ cwd: join(root, 'server/src/platform/db/migrations') }),
)

/** Standards and vendors' documentation that are cited by name; any other outside source is a URL. */
const published =
  /^(RFC \d+|IANA, |ISO\/IEC \d|POSIX|W3C, |OpenTelemetry, |AWS, )|^https:\/\/[\w.-]+/
const reference = /\bcontract ((?:\d+(?:\.\d+)?)(?:(?:, | and )\d+(?:\.\d+)?)*)/g
/** Documents that the code once named and that are not in the repository. */
const gone = /(?<![\w/-])(?:api|wire|spec|faults|design|findings)\.md\b|(?<![\w/-])providers\.md \d/

/** What is wrong with the words behind `Source:`, undefined where they lead somewhere. */
function faultOf(source: string): string | undefined {
  const [, page, rest = ''] = /^(docs\/[\w/-]+\.md)(.*)$/.exec(source) ?? []
  if (page !== undefined) return faultOfPage(page, rest)
  const [, migration] = /^migration (\d{4})\b/.exec(source) ?? []
  if (migration !== undefined) {
    const isThere = migrations.some((name) => name.startsWith(`${migration}-`))
    return isThere ? undefined : `there is no migration ${migration}`
  }
  if (published.test(source) || /^contract \d/.test(source)) return undefined
  return 'neither a section of the contract, a page, a migration, a URL nor a known standard'
}

function faultOfPage(path: string, rest: string): string | undefined {
  const page = pages.get(path)
  if (!page) return `there is no ${path}`
  const [, heading] = /^, "([^"]+)"/.exec(rest) ?? []
  if (heading === undefined || page.text.includes(`# ${heading}\n`)) return undefined
  return `${path} has no heading "${heading}"`
}

/** The comments of a file, each as one line without its stars. */
const commentsIn = (code: string): string[] =>
  [...code.matchAll(/\/\*[\s\S]*?\*\/|(?<![:'"`\w])\/\/[^\n]*/g)].map(([comment]) =>
    comment.replaceAll(/^\/\*+|\*\/$|^\/\//g, '').replaceAll(/\s*\n\s*\*?\s*/g, ' '),
  )

/** What is wrong with the sources that the comments of a file name. */
function faultsOf(code: string): string[] {
  return commentsIn(code).flatMap((comment) => {
    const sources = comment.split(/\bSource:\s*/).slice(1)
    const numbers = [...comment.matchAll(reference)].flatMap(([, list = '']) =>
      list.split(/, | and /),
    )
    return [
      ...sources.flatMap((source) => faultOf(source) ?? []),
      ...numbers
        .filter((number) => !sections.has(number))
        .map((number) => `there is no contract ${number}`),
      ...(gone.exec(comment) ?? []).map((name) => `${name} is not in the repository`),
    ]
  })
}

async function* codeFiles() {
  for (const folder of ['server', 'dashboard', 'connect', 'cli', 'tests', 'bench', 'bin']) {
    for await (const file of new Glob('**/*.{ts,tsx,mjs}').scan({ cwd: join(root, folder) })) {
      if (!/(^|\/)(node_modules|dist)\//.test(file)) yield `${folder}/${file}`
    }
  }
}

test('every Source in the code leads to a section, a page or a published standard', async () => {
  const faults: string[] = []
  let named = 0
  for await (const path of codeFiles()) {
    // The examples below name what is not there.
    if (path === 'tests/docs/sources.test.ts') continue
    const code = await Bun.file(join(root, path)).text()
    named += code.match(/\bSource: contract \d/g)?.length ?? 0
    faults.push(...faultsOf(code).map((fault) => `${path}: ${fault}`))
  }
  expect(faults).toEqual([])
  expect(named).toBeGreaterThan(200)
})

describe('a Source is rejected', () => {
  test.each([
    ['/** Source: contract 4.99. */', 'there is no contract 4.99'],
    ['/** Source: contract 4.8, 99.1. */', 'there is no contract 99.1'],
    ['/** Source:\n * contract 4.99. */', 'there is no contract 4.99'],
    ['// Source: docs/nowhere.md.', 'there is no docs/nowhere.md'],
    [
      '/** Source: docs/contribute/architecture.md, "Nowhere". */',
      'docs/contribute/architecture.md has no heading "Nowhere"',
    ],
    ['/** Source: migration 9999. */', 'there is no migration 9999'],
    ['/** As wire.md R16 has it. */', 'wire.md is not in the repository'],
    ['/** By the rows of providers.md 5. */', 'providers.md 5 is not in the repository'],
    [
      '/** Source: the minutes of a meeting. */',
      'neither a section of the contract, a page, a migration, a URL nor a known standard',
    ],
  ])('%s', (code, fault) => {
    expect(faultsOf(code)).toEqual([fault])
  })

  test('unless it exists', () => {
    const code = `/** Source: contract 4.3, 12.5. */
      // Source: RFC 9112, 6.3.
      /** Source: docs/contribute/tunnel.md, "Self-hosted gateways". */
      /** Source: https://www.w3.org/TR/trace-context/ */
      const url = 'https://a.example/wire.md'`
    expect(faultsOf(code)).toEqual([])
  })
})
