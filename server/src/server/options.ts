import { parseArgs } from 'node:util'
import { formatArgumentError } from './argument-error'
import { StartError } from '../platform/config/config'

/** The output of `tollgate start --help`. */
export const startHelp = `Usage: tollgate [start] [--workers <number>]

Runs the server, until a signal ends it. Its settings come from the environment: docs/operate/configuration.md.

  --workers <number>   processes that share the port, 1 to 64, or auto: one for each processor; as WORKERS

Exit codes: 0 after a signal, once all requests are answered; 1 it could not start or go on; 2 invalid command line;
130 a second Ctrl-C.
`

/** Arguments of `tollgate start` that are none. Its exit code is 2, that of other failures 1. */
export class InvalidArguments extends StartError {}

const seeHelp = 'See tollgate start --help.'

/**
 * Converts the arguments of `tollgate start` to environment variables, undefined where help is requested. Throws
 * `InvalidArguments`.
 */
export function parseOptions(args: string[]): Record<string, string> | undefined {
  const { workers, help } = parse(args)
  if (help) return undefined
  if (workers === undefined) return {}
  if (workers !== 'auto' && !/^([1-9]|[1-5]\d|6[0-4])$/.test(workers)) {
    throw new InvalidArguments(`--workers must be a number from 1 to 64, or auto. ${seeHelp}`)
  }
  return { WORKERS: workers }
}

function parse(args: string[]) {
  try {
    const options = {
      workers: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const
    return parseArgs({ args, options }).values
  } catch (cause) {
    throw new InvalidArguments(`${formatArgumentError(cause)} ${seeHelp}`, { cause })
  }
}
