import pino, { type Logger } from 'pino'

const flushEveryMs = 250

/** A line for people, where logs go to a terminal. */
function toReadable(line: string): string {
  const { time, level, msg, requestId, method, path, status, ms, err } = JSON.parse(line)
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  const words = method ? `${method} ${path} ${status} ${ms} ms` : String(msg ?? '')
  const cause = err?.message ? ` (${err.message})` : ''
  const label = level >= 50 ? 'error ' : level >= 40 ? 'warn ' : ''
  return `${clock} ${label}${words}${cause}${requestId ? `  ${requestId}` : ''}\n`
}

/** Structured lines on standard output; on a terminal, readable ones. Errors lose nothing but headers. */
export function createLog(level: string): Logger & { flushNow: () => void } {
  const serializers = {
    // Only what is safe of an error: drivers hang addresses and options on theirs.
    err: (error: unknown): unknown =>
      error instanceof Error
        ? {
            name: error.name,
            message: error.message,
            code: Reflect.get(error, 'code'),
            stack: error.stack,
            ...(error.cause instanceof Error && { cause: error.cause.message }),
          }
        : error,
  }
  const options = { level, base: null, serializers }
  if (process.stdout.isTTY) {
    const log = pino(options, {
      write: (line: string) => void process.stdout.write(toReadable(line)),
    })
    return Object.assign(log, { flushNow: () => undefined })
  }
  // Lines are written together: a write to the system for each would cost more than the line.
  const destination = pino.destination({ dest: 1, sync: false, minLength: 4096 })
  setInterval(() => destination.flush(), flushEveryMs).unref()
  return Object.assign(pino(options, destination), { flushNow: () => destination.flushSync() })
}
