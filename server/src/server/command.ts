import { parseArgs, type ParseArgsConfig } from 'node:util'
import { formatArgumentError } from './argument-error'
import { guardOutput } from './command-output'

type Options = NonNullable<ParseArgsConfig['options']>

/** The parsed arguments of a command beside the server. */
export interface CommandOptions {
  /** Whether a flag such as `--json` is given. */
  has: (name: string) => boolean
  /** The positional arguments, no more than the command declares. */
  positionals: readonly string[]
  /** Writes a line for people to the error output. */
  log: (line: string) => void
  /** Writes a progress line like `log`: only on a terminal, or with `--progress`. */
  progress: (line: string) => void
}

export interface ServerCommand {
  name: string
  /** The output of `--help`. */
  help: string
  /** Names of flags, which take no value. */
  flags?: readonly string[]
  /** Names of the required positional arguments. */
  positionals?: readonly string[]
  /** Names of those that may be left out, after them. */
  optional?: readonly string[]
  /** Resolves with the exit code: 0, or 1 for a negative result. It throws if the command could not start. */
  run: (options: CommandOptions) => Promise<number>
}

/** A command that started and then failed; any other error means that it could not start. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

const always = ['help', 'progress', 'json']

function read(command: ServerCommand, args: string[]) {
  const { name, flags = [], positionals: names = [], optional = [] } = command
  const options: Options = Object.fromEntries(
    [...flags, ...always].map((flag) => [flag, { type: 'boolean' }]),
  )
  const { values, positionals } = parse(name, { args, options })
  const { length } = positionals
  const isOutside = length < names.length || length > names.length + optional.length
  if (values['help'] !== true && isOutside) {
    const required = names.map((positional) => `<${positional}>`)
    const others = optional.map((positional) => `[<${positional}>]`)
    const usage = ['tollgate', name, ...required, ...others].join(' ')
    throw new Error(`Usage: "${usage}". See tollgate ${name} --help.`)
  }
  return { values, positionals }
}

function parse(name: string, config: { args: string[]; options: Options }) {
  try {
    return parseArgs({ ...config, allowPositionals: true })
  } catch (cause) {
    throw new Error(`${formatArgumentError(cause)} See tollgate ${name} --help.`, { cause })
  }
}

/**
 * Runs a command with the arguments of this process, and sets its exit code: 0 for success, 1 for a failure or a
 * negative result, 2 for invalid arguments or a command that could not start.
 */
export async function runCommand(command: ServerCommand): Promise<void> {
  const log = (line: string) => process.stderr.write(`tollgate ${command.name}: ${line}\n`)
  guardOutput()
  try {
    const { values, positionals } = read(command, process.argv.slice(2))
    if (values['help']) {
      process.stdout.write(command.help)
      return
    }
    const showsProgress = values['progress'] === true || process.stderr.isTTY
    process.exitCode = await command.run({
      has: (name) => values[name] === true,
      positionals,
      log,
      progress: (line) => (showsProgress ? log(line) : undefined),
    })
  } catch (thrown) {
    log(thrown instanceof Error ? thrown.message : String(thrown))
    process.exitCode = thrown instanceof CommandFailed ? 1 : 2
  }
}
