import type { Group, Option, Verb } from './verb'

/** Options of every command. */
export const commonOptions: Readonly<Record<string, Option>> = {
  url: { value: 'address', about: 'of the server; BASE_URL by default, or PORT on this machine' },
  json: { about: 'for programs' },
  progress: { about: 'show progress, also when the output is not a terminal' },
  help: { about: 'this text' },
}

const formatOption = (name: string, { value }: Option) => `--${name}${value ? ` <${value}>` : ''}`

const usage = (name: string, { positionals }: Verb) =>
  [name, ...positionals.map((positional) => `<${positional}>`)].join(' ')

function alignColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}\n`).join('')
}

/** Formats the help of a group of commands, verb by verb. */
export function helpOf({ name, about, verbs }: Group): string {
  const lines = Object.entries(verbs).map(([verb, one]) => {
    const head = `  ${usage(verb, one)}\n      ${one.about}\n`
    const options = Object.entries(one.options ?? {}).map(
      ([option, declared]) => `      ${formatOption(option, declared)}: ${declared.about}\n`,
    )
    return head + options.join('')
  })
  const rows = Object.entries(commonOptions).map(
    ([option, declared]) => [formatOption(option, declared), declared.about] as const,
  )
  return (
    `Usage: tollgate ${name} <command>\n\n${about}.\n\n${lines.join('')}\n` +
    `Options of all of them:\n${alignColumns(rows)}\n` +
    'The operator key is ADMIN_KEY, or that in DATA_DIR. Secrets are prompted for, or read from standard input.\n' +
    'Exit codes: 0 success, 1 rejected or no answer, 2 invalid command line.\n'
  )
}
