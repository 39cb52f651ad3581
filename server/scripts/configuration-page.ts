import { join } from 'node:path'
import { z } from 'zod'
import { listSettings, type DeclaredSetting } from '../src/platform/config/setting'
import { readConfig } from '../src/platform/config/config'
import { sections, Settings } from '../src/platform/config/settings'
import { listLiveSettings, type LiveSettingsTable } from '../src/platform/settings/live-setting'
import { liveSettings } from '../src/platform/settings/settings'
import type { Provider } from '../src/providers/provider'
import { providers } from '../src/providers/registry'

/**
 * `node bin/tollgate.mjs run server/scripts/configuration-page.ts` writes the tables of settings, of the providers' keys
 * and of live settings into docs/operate/configuration.md, between the comments that mark them.
 */
const path = join(import.meta.dir, '../../docs/operate/configuration.md')

const end = '<!-- end -->'

function toDefault({ schema, unset = 'none' }: DeclaredSetting): string {
  const { default: value } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return value === undefined || value === ''
    ? unset
    : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

const toRow = (setting: DeclaredSetting) =>
  `| \`${setting.name}\` | ${toDefault(setting)} | ${setting.doc} |`

const toSection = ({ title, settings }: (typeof sections)[number]) =>
  [
    `### ${title}`,
    '',
    '| variable | default | meaning |',
    '|---|---|---|',
    ...listSettings(settings).map(toRow),
    '',
  ].join('\n')

const toNames = (variables: readonly string[]) => variables.map((name) => `\`${name}\``).join(', ')

function toProviderRow({ key, name, keyVariables, keyFields }: Provider): string {
  const fields =
    keyFields && `${toNames(keyFields.slice(0, -1))} and perhaps ${toNames(keyFields.slice(-1))}`
  return `| \`${key}\` (${name}) | ${toNames(keyVariables)}${fields ? `, or ${fields}` : ''} |`
}

/** The providers that the environment can make connections to. */
export const keyedProviders = providers.filter(({ keyVariables }) => keyVariables.length > 0)

const providerTable = () =>
  ['| provider | variables |', '|---|---|', ...keyedProviders.map(toProviderRow), ''].join('\n')

type Live = ReturnType<typeof listLiveSettings>[number]

const config = readConfig({})
const variables = new Map(listSettings(Settings).map(({ path, name }) => [path.join('.'), name]))

/** The variable that sets the default, or the default as an answer shows it. */
function toLiveDefault(setting: Live): string {
  const variable = setting.configPath && variables.get(setting.configPath.join('.'))
  if (variable !== undefined) return `\`${variable}\``
  const value = setting.toAnswer(setting.initial(config))
  if (Array.isArray(value) && value.length === 0) return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return setting.unit ? `${Number(text).toLocaleString('en-US')} ${setting.unit}` : `\`${text}\``
}

const toLiveRow = (setting: Live) =>
  `| \`${setting.path}\` | ${toLiveDefault(setting)} | ${setting.doc} |`

/** Renders the table of live settings. */
export const renderLiveSettings = (table: LiveSettingsTable) =>
  [
    '| field | default | meaning |',
    '|---|---|---|',
    ...listLiveSettings(table).map(toLiveRow),
    '',
  ].join('\n')

function replaceTables(page: string, name: string, tables: string): string {
  const begin = `<!-- begin ${name}: written by server/scripts/configuration-page.ts -->`
  const [before, rest] = page.split(`${begin}\n`)
  const endAt = rest?.indexOf(end) ?? -1
  if (before === undefined || rest === undefined || endAt < 0) {
    throw new Error(`${path} lacks the comments of ${name}`)
  }
  return `${before}${begin}\n\n${tables}\n${rest.slice(endAt)}`
}

/** Returns a page with its tables as the settings and the providers are declared. */
export function renderPage(page: string): string {
  const withSettings = replaceTables(page, 'settings', sections.map(toSection).join('\n'))
  const withProviders = replaceTables(withSettings, 'keys of providers', providerTable())
  return replaceTables(withProviders, 'live settings', renderLiveSettings(liveSettings))
}

if (import.meta.main) await Bun.write(path, renderPage(await Bun.file(path).text()))
