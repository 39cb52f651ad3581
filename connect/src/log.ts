import { shortened, type Secrets } from './text'

export type Level = 'info' | 'warn' | 'error'

/** Writes a log line: `event` is for programs and never changes, `message` is for people. */
export type Log = (level: Level, event: string, message: string) => void

interface LogOptions {
  /** Formats lines as JSON, for programs. */
  isJson: boolean
  secrets: Secrets
  write: (line: string) => void
  now?: () => Date
}

/** Opens a log of single lines without secrets. */
export const openLog =
  ({ isJson, secrets, write, now = () => new Date() }: LogOptions): Log =>
  (level, event, message) => {
    const text = shortened(secrets.hide(message), 500)
    const time = now().toISOString()
    write(
      isJson
        ? `${JSON.stringify({ time, level, event, message: text })}\n`
        : `${time} ${level === 'info' ? '' : `${level}: `}${text}\n`,
    )
  }

const maxAlike = 20
const spanMs = 10_000

/** Limits a log to twenty lines of one event in ten seconds, as thousands of requests may fail at once. */
export function limitRepeats(log: Log, now: () => number = () => performance.now()): Log {
  const counts = new Map<string, { startedMs: number; count: number }>()
  return (level, event, message) => {
    const previous = counts.get(event)
    const one =
      previous && now() - previous.startedMs < spanMs ? previous : { startedMs: now(), count: 0 }
    counts.set(event, one)
    one.count += 1
    if (one.count <= maxAlike) log(level, event, message)
    if (one.count === maxAlike)
      log('warn', event, 'Further messages of this kind are suppressed for a while.')
  }
}
