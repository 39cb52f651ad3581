import type { Figures } from './figures'
import { number, table } from './markdown'
import { figuresFor, type Result } from './result'

/** Tells whether answers failed, which makes the others cheaper. */
export const isBad = ({ failed, cut }: Figures) => failed > 0 || cut > 0

/** Formats what failed in a scenario, a line for each subject. */
export const failuresIn = (result: Result, scenario: string): string[] =>
  result.figures
    .filter((its) => its.scenario === scenario && isBad(its))
    .map((its) => {
      const message = its.failure.replaceAll(/\s+/g, ' ').slice(0, 160)
      return `¹ ${its.subject}: ${its.failed} failed, ${its.cut} cut unfinished${message && `; ${message}`}`
    })

/** Formats what was checked of the money. */
export function moneySection({ participants }: Result): string {
  const rows = participants.flatMap(({ title, verdicts }) =>
    verdicts.map(({ promise, holds, found }) => [title, promise, holds ? 'yes' : '**NO**', found]),
  )
  return table(['gateway', 'promise', 'holds', 'found'], rows)
}

/** Formats the evidence that neither load nor provider was the bottleneck. */
export function bottleneckSection(result: Result): string {
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

/** Formats when, where and how it was measured. */
export const circumstancesOf = ({ at, machine, versions, rounds, seconds }: Result): string =>
  `${at}; ${machine}; ${versions}. ${rounds} rounds in turns, ` +
  `${seconds} s each; medians. How it was measured: docs/contribute/benchmark.md.`

/** Formats the peers that did not take part, if any. */
export function missingSection(result: Result): string[] {
  const missing = Object.entries(result.missing).map(([name, why]) => `- ${name}: ${why}`)
  return missing.length > 0 ? ['## Not there', missing.join('\n')] : []
}
