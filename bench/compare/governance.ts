import type { Governance, Setting } from '../subjects/governance'
import { number, table, wordTable } from './markdown'
import { figuresFor, type Participant, type Result } from './result'
import {
  bottleneckSection,
  circumstancesOf,
  failuresIn,
  isBad,
  missingSection,
  moneySection,
} from './sections'

const plain = 'chat-64'
const streamed = 'stream-10-200'

const head = [
  '',
  'CPU µs a request, all services',
  'the gateway alone',
  'requests a second',
  'added p50 ms',
  'added p99 ms',
  'CPU µs a stream, all services',
  'memory MB',
]

/** Formats what one gateway costs; no cells where it was not measured. */
function costsOf(result: Result, { name, title }: Participant): string[] {
  const request = figuresFor(result, name, plain)
  const stream = figuresFor(result, name, streamed)
  if (!request && !stream) return []
  const hasFailed = [request, stream].some((its) => its && isBad(its))
  return [
    `${title}${hasFailed ? ' ¹' : ''}`,
    number(request?.cpuPerRequestAll),
    number(request?.cpuPerRequest),
    number(request?.rate),
    number(request?.addedP50, 2),
    number(request?.addedP99, 2),
    number(stream?.cpuPerRequestAll),
    number(request?.residentMb),
  ]
}

const features = ['keys', 'limits', 'budgets', 'logs', 'services'] as const
const featureHead = ['what is on', 'API keys', 'limits', 'budgets', 'request logs', 'services']

const featuresOf = (governance: Governance) => features.map((name) => governance[name] ?? '–')

function tablesOf(result: Result, setting: Setting): string[] {
  const its = result.participants.filter(({ governance }) => governance?.setting === setting)
  const costs = its
    .map((participant) => costsOf(result, participant))
    .filter(({ length }) => length > 0)
  const on = its.flatMap(({ title, governance }) =>
    governance ? [[title, ...featuresOf(governance)]] : [],
  )
  return its.length === 0
    ? ['None was measured.']
    : [table(head, costs), wordTable(featureHead, on)]
}

/** Formats the tables of bare and of governed gateways: what each costs, and what is on in it. */
export const governanceSection = (result: Result): string =>
  [
    `A request is a plain chat of 1 kB at 64 connections; a stream has 100 chunks, 10 ms apart, 200 open. All services are the ` +
      "gateway's processes with its own PostgreSQL and Redis.",
    '### Bare: what can be off is off',
    ...tablesOf(result, 'bare'),
    '### Governed: keys, limits, budgets and logs, as far as it has them',
    ...tablesOf(result, 'governed'),
    ...[plain, streamed].flatMap((scenario) => failuresIn(result, scenario)),
  ].join('\n\n')

/** Formats the result of the bare and the governed gateways alone. */
export const governanceReportOf = (result: Result): string =>
  [
    '# Bare and governed gateways',
    circumstancesOf(result),
    governanceSection(result).replaceAll('\n### ', '\n## '),
    '## Load and provider are not the bottleneck',
    bottleneckSection(result),
    '## Money, in the same run',
    moneySection(result),
    ...missingSection(result),
  ].join('\n\n')
