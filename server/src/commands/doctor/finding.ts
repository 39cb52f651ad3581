import { collapseSpaces } from '../../wire/one-line'

/** The result of one check in one line, and how to fix it in another. */
export interface DoctorFinding {
  name: string
  state: 'ok' | 'warning' | 'failure'
  what: string
  fix?: string
}

export const fine = (name: string, what: string): DoctorFinding => ({ name, state: 'ok', what })

export const warning = (name: string, what: string, fix: string): DoctorFinding => ({
  name,
  state: 'warning',
  what,
  fix,
})

export const failure = (name: string, what: string, fix: string): DoctorFinding => ({
  name,
  state: 'failure',
  what,
  fix,
})

/** Returns the message of a thrown value, in one line. */
export const formatFinding = (thrown: unknown): string =>
  collapseSpaces(thrown instanceof Error ? thrown.message : String(thrown))

const marks = { ok: 'ok     ', warning: 'warning', failure: 'FAILURE' }

/** Formats all findings as text: a line each, and a second one for those that need a fix. */
export function formatFindings(findings: readonly DoctorFinding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const lines = findings.flatMap(({ name, state, what, fix }) => [
    `${marks[state]}  ${name.padEnd(width)}  ${collapseSpaces(what)}`,
    ...(fix === undefined ? [] : [`${' '.repeat(width + 11)}-> ${collapseSpaces(fix)}`]),
  ])
  return `${lines.join('\n')}\n`
}
