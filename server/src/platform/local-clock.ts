/** Reads the wall clock of a time zone. */
export interface LocalClock {
  /** Returns how far the zone's clock is ahead of UTC at a moment, in milliseconds. */
  offsetAt: (atMs: number) => number
}

const utc: LocalClock = { offsetAt: () => 0 }
const clocks = new Map<string, LocalClock>([['UTC', utc]])

/** Returns the clock of a zone, by its name in the IANA database. Throws `RangeError` for an unknown one. */
export function clockOf(timeZone: string): LocalClock {
  const knownClock = clocks.get(timeZone)
  if (knownClock) return knownClock
  const clock = createClock(timeZone)
  clocks.set(timeZone, clock)
  return clock
}

/** Returns the name of a time zone as the runtime spells it; undefined for an unknown one, and for an offset. */
export function findTimeZone(name: string): string | undefined {
  // Offsets such as +05:30 are no zones of the IANA database.
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

function createClock(timeZone: string): LocalClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return {
    offsetAt(atMs) {
      const second = Math.floor(atMs / 1000) * 1000
      const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
      for (const { type, value } of format.formatToParts(second)) parts[type] = Number(value)
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = parts
      return Date.UTC(year, month - 1, day, hour, minute, seconds) - second
    },
  }
}

/**
 * Finds the first moment of a clock's offset at `toMs`, where it had another one at `fromMs` and changed once in
 * between. Clocks change at whole seconds.
 */
export function findChange(clock: LocalClock, fromMs: number, toMs: number): number {
  const offset = clock.offsetAt(toMs)
  let before = Math.floor(fromMs / 1000)
  let after = Math.floor(toMs / 1000)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (clock.offsetAt(middle * 1000) === offset) after = middle
    else before = middle
  }
  return after * 1000
}
