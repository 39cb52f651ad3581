import { governanceSection } from './governance'
import { number, table } from './markdown'
import { figuresFor, type Participant, type Result } from './result'
import {
  bottleneckSection,
  circumstancesOf,
  failuresIn,
  isBad,
  missingSection,
  moneySection,
} from './sections'
import { targetsTable } from './targets'

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
  const heading = `### ${title[0]?.toUpperCase()}${title.slice(1)}`
  return [heading, table(head, rows), ...failuresIn(result, name)].join('\n\n')
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
  return [
    '# Tollgate beside nginx and its peers',
    circumstancesOf(result),
    '## What is promised',
    targetsTable(result),
    '## Load and provider are not the bottleneck',
    bottleneckSection(result),
    '## Bare and governed',
    governanceSection(result),
    '## Scenarios',
    ...result.scenarios.map((scenario) => scenarioSection(result, scenario)),
    '## Start',
    table(['', 'start to the first answer, ms', 'first start ever, ms'], starts),
    '## Money, in the same run',
    moneySection(result),
    ...missingSection(result),
  ].join('\n\n')
}
