import { parseArgs } from 'node:util'
import { StartError } from '../config'

/** What stands after `tollgate start`, as the variables that it stands for. Throws `StartError`. */
export function parseOptions(args: string[]): Record<string, string> {
  try {
    const { values } = parseArgs({ args, options: { workers: { type: 'string' } } })
    return values.workers === undefined ? {} : { WORKERS: values.workers }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new StartError(`${why} The only option of start is --workers <number>.`, { cause })
  }
}
