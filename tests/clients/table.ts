import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agents, type Agent } from './agents/agents'
import { agentColumns, casesOfColumn } from './agents/cases'
import {
  clients,
  columns,
  columnsOf,
  frameworkColumns,
  frameworks,
  mediaClients,
  mediaColumns,
  rankingClients,
  rankingColumns,
  versionsOf,
  type Client,
} from './clients'
import { judges, type Judge } from './judges'
import type { Result } from './fixture'

const file = join(import.meta.dir, '../../docs/guides/clients.md')

/** A table of the page. */
export interface Table {
  head: readonly string[]
  /** The first cells of its rows, in order. */
  labels: readonly string[]
  begin: string
}

const end = '<!-- end -->'

export const clientTable: Table = {
  head: ['client', 'versions', ...Object.keys(columns)],
  labels: clients.map(({ label }) => label),
  begin: '<!-- clients: written by npm run test:clients -- --write -->',
}

export const frameworkTable: Table = {
  head: ['framework', 'versions', ...Object.keys(frameworkColumns)],
  labels: frameworks.map(({ label }) => label),
  begin: '<!-- frameworks: written by npm run test:clients -- --write -->',
}

export const mediaTable: Table = {
  head: ['client', 'versions', ...Object.keys(mediaColumns)],
  labels: mediaClients.map(({ label }) => label),
  begin: '<!-- images and sound: written by npm run test:clients -- --write -->',
}

export const rankingTable: Table = {
  head: ['client', 'versions', ...Object.keys(rankingColumns)],
  labels: rankingClients.map(({ label }) => label),
  begin: '<!-- rerankers: written by npm run test:clients -- --write -->',
}

export const judgeTable: Table = {
  head: ['judge', 'version', 'what it found good'],
  labels: judges.map(({ label }) => label),
  begin: '<!-- judges: written by npm run test:clients -- --write -->',
}

export const agentTable: Table = {
  head: ['agent', 'version', 'upstreams', ...agentColumns],
  labels: agents.map(({ label }) => label),
  begin: '<!-- agents: written by npm run test:clients -- --write -->',
}

/** Formats a cell. A client without a feature gives its own description. */
function cellOf(results: readonly Result[], names: readonly string[]): string {
  const own = names.map((name) => results.find((result) => result.case === name))
  if (own.some((result) => !result || result.ok === false)) return '**fails**'
  const cannot = own.filter((result) => result?.ok === null)
  if (cannot.length === 0) return 'yes'
  const words = [...new Set(cannot.map((result) => result?.detail))].join('; ')
  return cannot.length === own.length ? words : `yes; ${words}`
}

/** Formats a client's row. */
export function rowOf(client: Client, results: readonly Result[]): string {
  const cells = Object.values(columnsOf(client)).map((names) => cellOf(results, names))
  return `| ${[client.label, versionsOf(client), ...cells].join(' | ')} |`
}

/** Formats an agent's row: a column passes if it does with each of its upstreams. */
export function agentRowOf(agent: Agent, results: readonly Result[]): string {
  const cells = agentColumns.map((column) => cellOf(results, casesOfColumn(agent, column)))
  const { label, formats } = agent
  return `| ${[label, versionsOf(agent), formats.join(', '), ...cells].join(' | ')} |`
}

/** Formats a judge's row: all passed cases. */
export const formatJudgement = (judge: Judge, results: readonly Result[]): string =>
  `| ${judge.label} | ${versionsOf(judge)} | ${results.map(({ case: name }) => name).join(' · ')} |`

const labelOf = (row: string) => row.split(' | ')[0]?.replace('| ', '') ?? ''

/** Reads the rows of the page, by label. */
function rowsOf(page: string, { begin }: Table): Map<string, string> {
  const table = page.split(begin)[1]?.split(end)[0] ?? ''
  const rows = table.split('\n').filter((line) => line.startsWith('| '))
  return new Map(rows.slice(2).map((row) => [labelOf(row), row]))
}

/** Reads the first two cells, name and version, of each row of a table on the page. */
export const formatTable = (table: Table): string[] =>
  [...rowsOf(readFileSync(file, 'utf8'), table).values()].map((row) =>
    row.split(' | ').slice(0, 2).join(' | '),
  )

/** Lists the differences between the page and these rows. */
export function differences(table: Table, rows: readonly string[]): string[] {
  const written = rowsOf(readFileSync(file, 'utf8'), table)
  return rows
    .filter((row) => written.get(labelOf(row)) !== row)
    .map(
      (row) =>
        `docs/guides/clients.md has\n  ${written.get(labelOf(row)) ?? 'nothing'}\nbut it is\n  ${row}`,
    )
}

/** Writes these rows to the page; rows of clients that were not run stay unchanged. */
export function writeTable(table: Table, rows: readonly string[]): void {
  const page = readFileSync(file, 'utf8')
  const own = rows.map((row): [string, string] => [labelOf(row), row])
  const known = new Map([...rowsOf(page, table), ...own])
  const lines = table.labels.flatMap((label) => known.get(label) ?? [])
  const [before = '', rest = ''] = page.split(table.begin)
  const after = rest.slice(rest.indexOf(end))
  const rule = `|${' --- |'.repeat(table.head.length)}`
  const text = [`| ${table.head.join(' | ')} |`, rule, ...lines].join('\n')
  writeFileSync(file, `${before}${table.begin}\n\n${text}\n\n${after}`)
}
