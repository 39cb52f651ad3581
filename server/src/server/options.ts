import { parseArgs } from 'node:util'
import { StartError } from '../platform/config/config'

/** Converts the arguments of `tollgate start` to environment variables. Throws `StartError`. */
export function parseOptions(args: string[]): Record<string, string> {
  try {
    const { values } = parseArgs({ args, options: { workers: { type: 'string' } } })
    return values.workers === undefined ? {} : { WORKERS: values.workers }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new StartError(`${why} The only option of start is --workers, a number or auto.`, {
      cause,
    })
  }
}
