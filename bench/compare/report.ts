import { figuresFor, type Participant, type Result } from './result'
import type { Figures } from './figures'
import { targetsTable } from './targets'

const number = (value: number | undefined, digits = 0): string =>
  value === undefined || Number.isNaN(value)
    ? '–'
    : value.toLocaleString('en-US', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })

const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

const isBad = ({ failed, cut }: Figures) => failed > 0 || cut > 0

/** Formats a row of a scenario. */
function cells(result: Result, { name, title }: Participant, scenario: string): string[] {
  const its = figuresFor(result, name, scenario)
  if (!its) return []
  const nginx = figuresFor(result, 'nginx', scenario)
  const streamed = its.cpuPerChunk !== undefined
  return [
    `${title}${isBad(its) ? ' ¹' : ''}`,
    name === 'direct' ? '–' : number(its.cpuPerRequest),
    name === 'direct' ? '–' : number(its.cpuPerRequestAll),
    ...(streamed ? [name === 'direct' ? '–' : number(its.cpuPerChunk, 1)] : []),
    number(streamed ? its.eventsPerSecond : its.rate),
    nginx ? number(its.rate / nginx.rate, 2) : '–',
    name === 'direct' ? `(${number(its.p50, 2)})` : number(its.addedP50, 2),
    name === 'direct' ? `(${number(its.p99, 2)})` : number(its.addedP99, 2),
    name === 'direct' ? '–' : number(its.residentMb),
    ['gateway', 'load', 'provider']
      .map((who) => number(100 * its.busy[who === 'load' || who === 'provider' ? who : 'gateway']))
      .join(' / '),
  ]
}

function scenarioSection(result: Result, { name, title }: Result['scenarios'][number]): string {
  const rows = result.participants
    .map((participant) => cells(result, participant, name))
    .filter((row) => row.length > 0)
  const [first] = rows
  const streamed = (first?.length ?? 0) > 9
  const head = [
    '',
    'CPU µs a request',
    'with its database',
    ...(streamed ? ['CPU µs a chunk'] : []),
    streamed ? 'chunks a second' : 'requests a second',
    '× nginx',
    'added p50 ms',
    'added p99 ms',
    'memory MB',
    'busy %: gateway / load / provider',
  ]
  const bad = result.figures
    .filter((its) => its.scenario === name && isBad(its))
    .map((its) => {
      const message = its.failure.replaceAll(/\s+/g, ' ').slice(0, 160)
      return `¹ ${its.subject}: ${its.failed} failed, ${its.cut} cut unfinished${message && `; ${message}`}`
    })
  return [`### ${title[0]?.toUpperCase()}${title.slice(1)}`, table(head, rows), ...bad].join('\n\n')
}

function moneySection({ participants }: Result): string {
  const rows = participants.flatMap(({ title, verdicts }) =>
    verdicts.map(({ promise, holds, found }) => [title, promise, holds ? 'yes' : '**NO**', found]),
  )
  return table(['gateway', 'promise', 'holds', 'found'], rows)
}

/** Formats the evidence that neither load nor provider was the bottleneck. */
function bottleneckSection(result: Result): string {
  const direct = figuresFor(result, 'direct', 'chat-64')
  const nginx = figuresFor(result, 'nginx', 'chat-64')
  if (!direct || !nginx) return 'Not checked: it requires the direct provider and nginx.'
  const room = 200 - 100 * (nginx.busy.load + nginx.busy.provider + nginx.busy.gateway)
  return (
    `With 64 connections the provider alone answers ${number(direct.rate)} requests a second, ` +
    `${number(direct.rate / nginx.rate, 1)} times the rate through nginx. Of one processor each, ` +
    `nginx was ${number(100 * nginx.busy.gateway)} % busy, the load ${number(100 * nginx.busy.load)} %, ` +
    `the provider ${number(100 * nginx.busy.provider)} %; ${number(room)} % of two were idle or others'. ` +
    'Load and provider have one thread each: a thread well below 100 % was not the bottleneck.'
  )
}

/** Formats the whole result as Markdown. */
export function reportOf(result: Result): string {
  const starts = result.participants
    .filter(({ name }) => name !== 'direct')
    .map(({ title, startMs, firstStartMs }) => [
      title,
      number(startMs),
      firstStartMs === undefined ? '–' : number(firstStartMs),
    ])
  const missing = Object.entries(result.missing).map(([name, why]) => `- ${name}: ${why}`)
  return [
    '# Tollgate beside nginx and its peers',
    `${result.at}; ${result.machine}; ${result.versions}. ${result.rounds} rounds in turns, ` +
      `${result.seconds} s each; medians. How it was measured: docs/contribute/benchmark.md.`,
    '## What is promised',
    targetsTable(result),
    '## Load and provider are not the bottleneck',
    bottleneckSection(result),
    '## Scenarios',
    ...result.scenarios.map((scenario) => scenarioSection(result, scenario)),
    '## Start',
    table(['', 'start to the first answer, ms', 'first start ever, ms'], starts),
    '## Money, in the same run',
    moneySection(result),
    ...(missing.length > 0 ? ['## Not there', missing.join('\n')] : []),
  ].join('\n\n')
}
