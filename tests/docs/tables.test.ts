import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'
import { type Page, readPages, root, tableOf } from './pages'
import { keyedProviders, renderPage } from '../../server/scripts/configuration-page'
import { variableNames } from '../../server/src/platform/config/settings'
import { errors, issues } from '../../server/src/errors'

const pages = await readPages()

function pageAt(path: string): Page {
  const page = pages.find((one) => one.path === path)
  if (!page) throw new Error(`there is no ${path}`)
  return page
}

/** What stands in backticks in a cell. */
const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

const page = {
  errors: pageAt('docs/guides/errors.md'),
  configuration: pageAt('docs/operate/configuration.md'),
  readme: pageAt('README.md'),
}

describe('docs/guides/errors.md matches errors.ts', () => {
  test('every code with its statuses, its type and its details', () => {
    const documented = tableOf(page.errors, '## Codes').map(
      ([code, statuses = '', type, details]) => ({
        code: quoted(code)[0],
        statuses: [...statuses.matchAll(/\d+/g)].map(Number),
        type: quoted(type)[0],
        details: quoted(details),
      }),
    )
    const known = Object.entries(errors).map(([code, { statuses, type, details }]) => ({
      code,
      statuses: [...statuses],
      type,
      details: Object.keys(details),
    }))
    expect(documented).toEqual(known)
  })

  test('every issue', () => {
    const documented = tableOf(page.errors, '## Issues').flatMap(([issue]) => quoted(issue))
    expect(documented).toEqual([...issues])
  })
})

/** Set by the launcher for the server, and by tests. */
const inside = new Set([
  'TOLLGATE_NODE',
  'TOLLGATE_LAUNCHER_PID',
  'TOLLGATE_IGNORED',
  'TOLLGATE_DASHBOARD',
])

/** Variables that sources read by their names, past the schema. */
async function readByName(): Promise<string[]> {
  const files = await Array.fromAsync(new Glob('server/src/**/*.ts').scan({ cwd: root }))
  const sources = files.filter((path) => !path.endsWith('.test.ts'))
  const texts = await Promise.all(sources.map((path) => Bun.file(join(root, path)).text()))
  const reads =
    /(?:environment|process\.env)(?:\['|\.)([A-Z][A-Z0-9_]+)|keyVariable: '(\w+)'|Variable = '(\w+)'/g
  const names = texts.flatMap((text) =>
    [...text.matchAll(reads)].map(([, read, key, other]) => read ?? key ?? other ?? ''),
  )
  return names.filter((name) => !inside.has(name))
}

describe('docs/operate/configuration.md has every setting that there is', () => {
  test('the tables of variables, of the keys of providers and of live settings match server/scripts/configuration-page.ts', () => {
    expect(renderPage(page.configuration.text)).toBe(page.configuration.text)
  })

  test('the variables that are read without being declared', async () => {
    const listed = tableOf(page.configuration, '### Read under other names').flatMap(([name]) =>
      quoted(name),
    )
    const byName = await readByName()
    expect(byName).toContain('OLLAMA_HOST')
    const declared = new Set(variableNames)
    const others = [...new Set(byName)].filter((name) => !declared.has(name))
    expect(others.filter((name) => !listed.includes(name))).toEqual([])
    // Of what is in the page and not found in that way, these are made of parts, or the launcher's.
    expect(listed.filter((name) => !others.includes(name))).toEqual([
      'GITHUB_CLIENT_ID',
      'GITHUB_CLIENT_SECRET',
      'GOOGLE_CLIENT_ID',
      'GOOGLE_CLIENT_SECRET',
      'TOLLGATE_BUN',
    ])
  })

  test('variables in README.md are among them', () => {
    const known = page.configuration.text
    const documented = tableOf(page.readme, '## Settings').flatMap(([name]) => quoted(name))
    expect(documented.length).toBeGreaterThan(10)
    expect(
      documented.filter((name) => !name.startsWith('<') && !known.includes(`\`${name}\``)),
    ).toEqual([])
  })
})

test('README.md has the number of providers in the registry', () => {
  expect(page.readme.text).toContain(`${keyedProviders.length} providers`)
})
