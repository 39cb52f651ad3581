import { parseArgs, type ParseArgsConfig } from 'node:util'
import { endOnBrokenPipe } from './broken-pipe'

type Options = NonNullable<ParseArgsConfig['options']>

/** What a command beside the server was asked. */
export interface CommandOptions {
  /** Options that stand alone, such as `--json`. */
  has: (name: string) => boolean
  /** What stands beside the options, as many as the command has names for. */
  words: readonly string[]
  /** A line for people, to the error output. */
  say: (line: string) => void
  /** The same while something takes its time: on a terminal, or where `--progress` asks for it. */
  progress: (line: string) => void
}

export interface ServerCommand {
  name: string
  /** What `--help` prints. */
  help: string
  /** Names of options that stand alone. */
  flags?: readonly string[]
  /** What has to stand beside them. */
  words?: readonly string[]
  /** Resolves with the exit code: 0, or 1 for what is not in order. What it throws kept it from trying. */
  run: (asked: CommandOptions) => Promise<number>
}

/** Where a command began and failed; what else is thrown kept it from beginning. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

const always = ['help', 'progress', 'json']

function read({ name, flags = [], words = [] }: ServerCommand, args: string[]) {
  const options: Options = Object.fromEntries(
    [...flags, ...always].map((flag) => [flag, { type: 'boolean' }]),
  )
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  if (values['help'] !== true && positionals.length !== words.length) {
    const wanted = ['tollgate', name, ...words.map((word) => `<${word}>`)].join(' ')
    throw new Error(`It is called as "${wanted}". See tollgate ${name} --help.`)
  }
  return { values, positionals }
}

/**
 * Runs a command by the arguments of this process, and sets its exit code: 0 for done, 1 for what failed or
 * is not in order, 2 for what was not understood or could not begin.
 */
export async function runCommand(command: ServerCommand): Promise<void> {
  const say = (line: string) => process.stderr.write(`tollgate ${command.name}: ${line}\n`)
  endOnBrokenPipe()
  try {
    const { values, positionals } = read(command, process.argv.slice(2))
    if (values['help']) {
      process.stdout.write(command.help)
      return
    }
    const isShown = values['progress'] === true || process.stderr.isTTY
    process.exitCode = await command.run({
      has: (name) => values[name] === true,
      words: positionals,
      say,
      progress: (line) => (isShown ? say(line) : undefined),
    })
  } catch (thrown) {
    say(thrown instanceof Error ? thrown.message : String(thrown))
    process.exitCode = thrown instanceof CommandFailed ? 1 : 2
  }
}
