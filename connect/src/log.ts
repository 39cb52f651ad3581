import { shortened, type Secrets } from './words'

export type Level = 'info' | 'warn' | 'error'

/** Writes a log line: `event` is for programs and never changes, `message` is for people. */
export type Say = (level: Level, event: string, message: string) => void

interface Writing {
  /** Formats lines as JSON, for programs. */
  isJson: boolean
  secrets: Secrets
  write: (line: string) => void
  now?: () => Date
}

/** Opens a log of single lines without secrets. */
export const openLog =
  ({ isJson, secrets, write, now = () => new Date() }: Writing): Say =>
  (level, event, message) => {
    const words = shortened(secrets.hide(message), 500)
    const time = now().toISOString()
    write(
      isJson
        ? `${JSON.stringify({ time, level, event, message: words })}\n`
        : `${time} ${level === 'info' ? '' : `${level}: `}${words}\n`,
    )
  }

const maxAlike = 20
const spanMs = 10_000

/** Limits a log to twenty lines of one event in ten seconds, as thousands of requests may fail at once. */
export function sparing(say: Say, now: () => number = () => performance.now()): Say {
  const counts = new Map<string, { since: number; count: number }>()
  return (level, event, message) => {
    const known = counts.get(event)
    const one = known && now() - known.since < spanMs ? known : { since: now(), count: 0 }
    counts.set(event, one)
    one.count += 1
    if (one.count <= maxAlike) say(level, event, message)
    if (one.count === maxAlike)
      say('warn', event, 'Further messages of this kind are suppressed for a while.')
  }
}
