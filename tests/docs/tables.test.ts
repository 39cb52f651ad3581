import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'
import { type Page, readPages, root, tableOf } from './pages'
import { ChangedConfig } from '../../server/src/api/operator/config/schema'
import { Environment, readConfig } from '../../server/src/platform/config/config'
import { errors, issues } from '../../server/src/errors'
import { providers } from '../../server/src/providers/registry'

const pages = await readPages()

function pageAt(path: string): Page {
  const page = pages.find((one) => one.path === path)
  if (!page) throw new Error(`there is no ${path}`)
  return page
}

/** What stands in backticks in a cell. */
const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)

const page = {
  errors: pageAt('docs/errors.md'),
  configuration: pageAt('docs/configuration.md'),
  readme: pageAt('README.md'),
}

describe('docs/errors.md says of errors what errors.ts does', () => {
  test('every code with its statuses, its type and its details', () => {
    const told = tableOf(page.errors, '## Codes').map(([code, statuses = '', type, details]) => ({
      code: quoted(code)[0],
      statuses: [...statuses.matchAll(/\d+/g)].map(Number),
      type: quoted(type)[0],
      details: quoted(details),
    }))
    const known = Object.entries(errors).map(([code, { statuses, type, details }]) => ({
      code,
      statuses: [...statuses],
      type,
      details: Object.keys(details),
    }))
    expect(told).toEqual(known)
  })

  test('every issue', () => {
    const told = tableOf(page.errors, '## Issues').flatMap(([issue]) => quoted(issue))
    expect(told).toEqual([...issues])
  })
})

/** Set by the launcher for the server, and by tests. */
const inside = new Set(['TOLLGATE_NODE', 'TOLLGATE_LAUNCHER_PID', 'TOLLGATE_IGNORED'])

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

describe('docs/configuration.md has every setting that there is', () => {
  test('the variables of the environment', async () => {
    const told = tableOf(page.configuration, '## The environment').flatMap(([name]) => quoted(name))
    const byName = await readByName()
    expect(byName).toContain('OLLAMA_HOST')
    const known = new Set([...Object.keys(Environment.shape), ...byName])
    expect([...known].filter((name) => !told.includes(name))).toEqual([])
    // Of what is in the page and not found in that way, these are made of parts, or the launcher's.
    expect(told.filter((name) => !known.has(name))).toEqual([
      'GITHUB_CLIENT_ID',
      'GITHUB_CLIENT_SECRET',
      'GOOGLE_CLIENT_ID',
      'GOOGLE_CLIENT_SECRET',
      'TOLLGATE_BUN',
    ])
  })

  test('their defaults', () => {
    const rows = tableOf(page.configuration, '## The environment').filter(
      (cells) => cells.length === 3,
    )
    const withDefault = rows.flatMap(([name, value]) => {
      const [[variable], [text]] = [quoted(name), quoted(value)]
      return variable && text && variable !== 'DATA_DIR' && !value?.includes(' ')
        ? [[variable, text]]
        : []
    })
    expect(withDefault.length).toBeGreaterThan(25)
    // Setting a variable to what the page has for its default changes nothing.
    const { environment: _none, ...usual } = readConfig({})
    for (const [variable = '', text = ''] of withDefault) {
      const { environment: _one, ...set } = readConfig({ [variable]: text })
      expect([variable, set]).toEqual([variable, usual])
    }
  })

  test('the variables of each provider', () => {
    const told = tableOf(page.configuration, '## Keys of providers').map(
      ([provider, variables]) => ({
        provider: quoted(provider)[0],
        variables: quoted(variables),
      }),
    )
    const known = providers.flatMap(({ key, keyVariables, keyParts = [] }) =>
      keyVariables.length > 0 ? [{ provider: key, variables: [...keyVariables, ...keyParts] }] : [],
    )
    expect(told).toEqual(known)
  })

  test('the fields of PUT /api/admin/config', () => {
    const told = tableOf(page.configuration, '## Set while the servers run').flatMap(([field]) =>
      quoted(field),
    )
    const groups: Record<string, { unwrap: () => { shape: object } }> = {
      owner_price_limits: ChangedConfig.shape.owner_price_limits,
      rates: ChangedConfig.shape.rates,
      timers: ChangedConfig.shape.timers,
    }
    const known = Object.keys(ChangedConfig.shape).flatMap((field) => {
      const group = groups[field]
      return group ? Object.keys(group.unwrap().shape).map((name) => `${field}.${name}`) : [field]
    })
    expect(told.toSorted()).toEqual(known.toSorted())
  })

  test('what README.md has of them is among them', () => {
    const known = page.configuration.text
    const told = tableOf(page.readme, '## Settings').flatMap(([name]) => quoted(name))
    expect(told.length).toBeGreaterThan(10)
    expect(told.filter((name) => !name.startsWith('<') && !known.includes(`\`${name}\``))).toEqual(
      [],
    )
  })
})
