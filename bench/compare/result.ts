import { execFileSync } from 'node:child_process'
import { cpus, release } from 'node:os'
import type { Governance } from '../subjects/governance'
import type { Verdict } from '../subjects/subject'
import type { Figures } from './figures'

/** A gateway that took part. */
export interface Participant {
  name: string
  title: string
  /** Absent where it is not a gateway. */
  governance?: Governance
  startMs: number
  firstStartMs?: number
  verdicts: Verdict[]
}

/** The result of a run, stored as JSON in bench/results. */
export interface Result {
  at: string
  machine: string
  versions: string
  rounds: number
  seconds: number
  participants: Participant[]
  /** Peers that did not take part, and why. */
  missing: Record<string, string>
  scenarios: { name: string; title: string }[]
  figures: Figures[]
}

const firstLine = (command: string, ...args: string[]): string => {
  try {
    // nginx prints its version to standard error.
    const output = execFileSync('sh', ['-c', '"$@" 2>&1', 'sh', command, ...args], {
      env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
    })
    return output.toString().split('\n')[0] ?? ''
  } catch {
    return ''
  }
}

export function machine(): string {
  const [first] = cpus()
  return `${cpus().length} × ${first?.model ?? 'unknown'}, Linux ${release()}`
}

export const versions = (): string =>
  [`Bun ${Bun.version}`, firstLine('nginx', '-v'), `Node ${firstLine('node', '--version')}`]
    .filter((version) => version !== '')
    .join('; ')

/** Returns the figures of one subject in one scenario. */
export const figuresFor = (result: Result, subject: string, scenario: string) =>
  result.figures.find((it) => it.subject === subject && it.scenario === scenario)
