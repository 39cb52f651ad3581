import pino, { type Logger } from 'pino'
import { ApiError, errors } from '../errors'
import { UpstreamError } from '../providers/upstream-error'
import type { LineOutput } from '../platform/line-output'
import { withoutSecrets } from '../request-logs/redact-body'

interface LogOptions {
  level: string
  secrets: readonly string[]
  worker: number | undefined
  isTerminal: boolean
}

/** Formats a log line for people, when logs go to a terminal. */
function toReadable(line: string): string {
  const { time, level, msg, requestId, method, path, status, ms, err } = JSON.parse(line)
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  const text = method ? `${method} ${path} ${status} ${ms} ms` : String(msg ?? '')
  const cause = err?.message ? ` (${err.message})` : ''
  const label = level >= 50 ? 'error ' : level >= 40 ? 'warn ' : ''
  return `${clock} ${label}${text}${cause}${requestId ? `  ${requestId}` : ''}\n`
}

const ownMessages = ({ code }: ApiError): string => errors[code].message

/**
 * Returns the part of an error message that may be logged: providers, PostgreSQL and the JSON parser repeat their
 * input. The message of an `ApiError` may come from a provider, whatever its code.
 */
function messageOf(error: Error): string {
  const { message, cause } = error
  if (error instanceof ApiError) return ownMessages(error)
  if (cause instanceof ApiError) return message.replace(cause.message, () => ownMessages(cause))
  // Single quotes contain at most one character.
  if (error instanceof SyntaxError) return message.replace(/".*"/s, '"[value]"')
  return Reflect.has(error, 'severity') ? message.replace(/: ".*"$/ms, ': [value]') : message
}

/** Keeps only the safe properties of an error: drivers attach addresses and options to theirs. */
export function toLogged(error: unknown): unknown {
  if (error instanceof UpstreamError) return { providerStatus: error.status }
  if (!(error instanceof Error)) return error
  return {
    name: error.name,
    message: messageOf(error),
    code: Reflect.get(error, 'code'),
    // A stack begins with the message.
    stack: error.stack?.replace(error.message, () => messageOf(error)),
    ...(error.cause instanceof Error && { cause: messageOf(error.cause) }),
  }
}

/** Returns a function that removes the known secrets, and texts that look like secrets, from a line. */
const redactor = (secrets: readonly string[]) => {
  const knownSecrets = secrets.map((secret) => JSON.stringify(secret).slice(1, -1))
  return (line: string) =>
    knownSecrets.reduce(
      (text, secret) => (text.includes(secret) ? text.replaceAll(secret, '[secret]') : text),
      withoutSecrets(line),
    )
}

/**
 * Writes structured lines to `output`; readable ones where that is a terminal. Errors lose only headers and values.
 * `secrets` are removed from all lines. `worker` is added to all of them.
 */
export function createLog(
  output: Pick<LineOutput, 'write'>,
  { level, secrets, worker, isTerminal }: LogOptions,
): Logger {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    serializers: { err: toLogged },
    hooks: { streamWrite: redactor(secrets) },
  }
  const write = isTerminal
    ? (line: string) => output.write(toReadable(line))
    : (line: string) => output.write(line)
  return pino(options, { write })
}
