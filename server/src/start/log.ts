import pino, { type Logger } from 'pino'
import { ApiError, errors } from '../errors'
import { withoutSecrets } from '../logs/redacted'

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

/** PostgreSQL quotes the value that it could not take, a provider what it was asked: both are somebody's. */
function wordsOf(error: Error, words: string | undefined): string | undefined {
  if (error instanceof ApiError && error.code === 'provider_error') {
    return words?.replace(error.message, errors.provider_error.message)
  }
  return Reflect.has(error, 'severity') ? words?.replace(/: ".*"$/ms, ': [value]') : words
}

/** Only what is safe of an error: drivers hang addresses and options on theirs. */
const toLogged = (error: unknown): unknown =>
  error instanceof Error
    ? {
        name: error.name,
        message: wordsOf(error, error.message),
        code: Reflect.get(error, 'code'),
        stack: wordsOf(error, error.stack),
        ...(error.cause instanceof Error && { cause: wordsOf(error.cause, error.cause.message) }),
      }
    : error

/** A line without what looks like a secret, and without the secrets that are known. */
const redactor = (secrets: readonly string[]) => {
  const known = secrets.map((secret) => JSON.stringify(secret).slice(1, -1))
  return (line: string) =>
    known.reduce(
      (text, secret) => (text.includes(secret) ? text.replaceAll(secret, '[secret]') : text),
      withoutSecrets(line),
    )
}

/**
 * Structured lines on standard output; on a terminal, readable ones. Errors lose nothing but headers and
 * values. `secrets` are in no line. `worker` is in all of them.
 */
export function createLog(
  level: string,
  secrets: readonly string[] = [],
  worker?: number,
): Logger & { flushNow: () => void } {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    serializers: { err: toLogged },
    hooks: { streamWrite: redactor(secrets) },
  }
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
