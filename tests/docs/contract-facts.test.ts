import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'
import { readPages, root, tableOf } from './pages'
import { alertTypes } from '../../server/src/platform/db/alert-schema'
import { roles } from '../../server/src/auth/roles'
import { strategies } from '../../server/src/catalog/collection'
import { readConfig } from '../../server/src/platform/config/config'
import { crashPoints } from '../../server/src/platform/crash-points'
import { quotaFields } from '../../server/src/http/limits'
import { getClaudeFamily } from '../../server/src/providers/anthropic/families'
import { RelayOptions } from '../../server/src/providers/provider'
import { responsesModels } from '../../server/src/providers/responses/models'
import { defaultSettings } from '../../server/src/platform/settings/stored-settings'

interface Choice {
  enum?: (string | null)[]
}

interface Schema {
  properties: Record<string, (Choice & { anyOf?: Choice[] }) | undefined>
}

/** What the contract says is held against the code that does it; see contract.test.ts for endpoints. */
const pages = new Map((await readPages()).map((page) => [page.path, page]))

function rowsOf(name: string, heading: string): string[][] {
  const page = pages.get(`docs/contract/${name}.md`)
  if (!page) throw new Error(`there is no docs/contract/${name}.md`)
  return tableOf(page, heading)
}

const quoted = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
const wordsIn = (rows: readonly string[][], column: number) =>
  rows.flatMap((cells) => quoted(cells[column]))

test('1.3: the prefixes of ids match the code, except for internal ids', async () => {
  const documented = rowsOf('1-conventions', '## 1.3 IDs').flatMap((cells) => [
    ...quoted(cells[0]),
    ...quoted(cells[2]),
  ])
  const code = await Bun.file(join(root, 'server/src/platform/db/id.ts')).text()
  const [, union = ''] = /export type IdPrefix =([\s\S]*?)\n\n/.exec(code) ?? []
  const known = [...union.matchAll(/'(\w+)'/g)].map(([, prefix = '']) => prefix)
  const inside = ['att', 'call', 'node', 'lease', 'claim', 'sock']
  const shown = known.filter((prefix) => !inside.includes(prefix))
  expect(documented.toSorted()).toEqual(shown.map((prefix) => `${prefix}_`).toSorted())
})

test('2.4: roles', () => {
  expect(wordsIn(rowsOf('2-access', '## 2.4 Organization roles'), 0)).toEqual([...roles])
})

test('3.1, 3.4: defaults of rates and timeouts', () => {
  const { rates, timers } = defaultSettings(readConfig({}))
  const limits = rowsOf('3-limits', '## 3.1 Rate limits')
  const limitOf = (name: string) => limits.find(([first]) => first === name)?.[1]
  expect(limitOf('requests under `/api`')).toBe(`${rates.apiRequestsPerMinute} per minute`)
  expect(limitOf('requests under `/api/public`')).toBe(
    `${rates.publicRequestsPerMinute} per minute`,
  )
  expect(limitOf('failed authentications')).toBe(
    `${rates.failedAuthenticationsPerMinute} per minute`,
  )
  expect(limitOf('alert tests')).toBe(`${rates.alertTestsPerHour} per hour`)
  expect(limitOf('invitation e-mails')).toBe(`${rates.invitationMailsPerDay} per day`)
  const documented = rowsOf('3-limits', '## 3.4 Timeouts').map(([, value]) => value)
  expect(documented).toEqual([
    `${timers.requestMs / 60_000} minutes`,
    `${timers.firstByteMs / 60_000} minutes`,
    `${timers.idleMs / 60_000} minutes`,
    `${timers.streamMs / 60_000} minutes`,
    `${timers.connectMs / 1000} s`,
  ])
})

test('4.10: every rule that names of tests begin with', async () => {
  const documented = rowsOf('4-model-endpoints', '## 4.10 Client compatibility rules')
  const known = new Set(documented.map(([id = '']) => id))
  const named = new Set<string>()
  const folders = [
    'tests/providers/conformance',
    'tests/harness/rules',
    'server/src/providers',
    'server/src/wire',
    'server/testing/conformance',
  ]
  for (const folder of folders) {
    for await (const file of new Glob('**/*.ts').scan({ cwd: join(root, folder) })) {
      const code = await Bun.file(join(root, folder, file)).text()
      const names = code.matchAll(/['"`]((?:[A-Z]\d{1,2},? ?)+): /g)
      for (const [, ids = ''] of names) for (const id of ids.match(/R\d+/g) ?? []) named.add(id)
    }
  }
  expect(named.size).toBeGreaterThan(15)
  expect([...named].filter((id) => !known.has(id))).toEqual([])
})

test('6.1: types of alerts', () => {
  const [, type] = rowsOf('6-account', '## 6.1 Alerts')
  expect(quoted(type?.[1])).toEqual([...alertTypes])
})

test('6.11: quota types', () => {
  const page = pages.get('docs/contract/6-account.md')
  const [, sentence = ''] = /## 6\.11 Quota\n\n([\s\S]*?)\. A limit/.exec(page?.text ?? '') ?? []
  expect(quoted(sentence)).toEqual(Object.keys(quotaFields))
})

test('10.4: strategies', () => {
  const documented = wordsIn(rowsOf('10-routing', '## 10.4 Collections'), 0)
  expect(documented.toSorted()).toEqual([...strategies].toSorted())
})

test('11.1: billing modes', async () => {
  const documented = wordsIn(rowsOf('11-money', '## 11.1 Who pays'), 0)
  const { components }: { components: { schemas: { CatalogueModel: Schema } } } = await Bun.file(
    join(root, 'openapi.json'),
  ).json()
  const mode = components.schemas.CatalogueModel.properties['billing_mode']
  const known = [mode?.enum, ...(mode?.anyOf ?? []).map((one) => one.enum)].flatMap(
    (list) => list ?? [],
  )
  expect(documented.toSorted()).toEqual(known.filter((one) => one !== null).toSorted())
})

const yes = (is: boolean, no: string) => (is ? 'yes' : no)

test('12.7: parameters that families of Claude accept', () => {
  for (const [names = '', output = '', schema, sampling, thinking, , tool] of rowsOf(
    '12-providers',
    '## 12.7 Claude families',
  )) {
    // `sonnet-4; opus-4` have an output each.
    const outputs = output.split('; ')
    for (const [at, name] of names.split(/, |; /).entries()) {
      const family = getClaudeFamily(name.startsWith('claude') ? name : `claude-${name}`)
      expect({ name, ...family }).toMatchObject({
        name,
        maxOutput: Number((outputs[at] ?? outputs[0] ?? '').replace(',', '')),
      })
      expect([name, schema, sampling, thinking, tool]).toEqual([
        name,
        yes(family.jsonSchema, 'no'),
        yes(family.sampling, 'rejected'),
        family.thinking,
        yes(family.forcedTool, 'rejected'),
      ])
    }
  }
})

test('12.9: models that need Responses', () => {
  const documented = wordsIn(rowsOf('12-providers', '## 12.9 OpenAI Responses as upstream'), 0)
  expect(documented.toSorted()).toEqual(Object.keys(responsesModels).toSorted())
})

test('12.12: options of a provider', () => {
  const page = pages.get('docs/contract/12-providers.md')
  const [, section = ''] = /## 12\.12 [^\n]+\n([\s\S]*?)\n## /.exec(page?.text ?? '') ?? []
  // An option that has no effect any more is not promised.
  const known = Object.keys(RelayOptions.shape).filter((name) => name !== 'endsWithoutDone')
  expect(
    quoted(section)
      .filter((word) => word !== 'options')
      .toSorted(),
  ).toEqual(known.toSorted())
})

test('13.3: crash points', () => {
  const documented = wordsIn(rowsOf('13-faults', '## 13.3 Crash points'), 1)
  expect(documented.toSorted()).toEqual([...crashPoints].toSorted())
})
