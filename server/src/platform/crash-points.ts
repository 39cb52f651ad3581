import { writeSync } from 'node:fs'

/** The moments at which a test may kill the process. Source: contract 13.3. */
export const crashPoints = [
  'after-admit',
  'after-open-record',
  'after-upstream-sent',
  'after-first-byte',
  'after-usage',
  'before-journal',
  'mid-group-commit',
  'after-journal',
  'before-last-byte',
  'after-last-byte',
  'before-truncate',
  'flush-before-begin',
  'flush-before-commit',
  'flush-after-commit',
  'replay-mid',
  'take-before-commit',
  'take-after-commit',
  'renew-mid',
  'recall-received',
  'return-before-commit',
  'return-after-commit',
  'sweep-mid',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** Called at each of these moments; most processes have none. */
export type CrashAt = (point: CrashPoint) => void

/** The moment at which to kill the process, and which occurrence of it. */
export interface PlannedCrash {
  point: CrashPoint
  nth: number
}

/** Bytes that were passed to the runtime need a moment to reach their socket. */
const inTransit = new Set<CrashPoint>(['after-upstream-sent', 'after-last-byte'])
const inTransitMs = 10

/** Kills this process at the planned moment, as a crash would: without writing or reporting anything. */
export function createCrasher({ point: plannedPoint, nth }: PlannedCrash): CrashAt {
  let times = 0
  const die = () => {
    // Not through the log, which buffers.
    writeSync(2, `tollgate: CRASH_AT ${plannedPoint}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
  return (point) => {
    if (point !== plannedPoint) return
    times += 1
    if (times !== nth) return
    if (inTransit.has(point)) setTimeout(die, inTransitMs)
    else die()
  }
}
