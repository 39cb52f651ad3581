import { z } from 'zod'
import { invalidRequest } from '../../../errors'

const seconds = z.number().min(1).nullish()

/** Timeouts of a customer's connection, in place of the installation's, which are never exceeded; replaced as a whole. */
export const TimeoutFields = z.strictObject({
  request_seconds: seconds.describe('Of a whole request without a stream'),
  first_byte_seconds: seconds.describe("Of a stream until the provider's first byte"),
  idle_seconds: seconds.describe('Of a stream between two events or comments of the provider'),
  stream_seconds: seconds.describe('Of a whole stream'),
})
export type TimeoutFields = z.output<typeof TimeoutFields>

const answeredSeconds = z.number().nullable()

export const TimeoutAnswer = z.object({
  request_seconds: answeredSeconds,
  first_byte_seconds: answeredSeconds,
  idle_seconds: answeredSeconds,
  stream_seconds: answeredSeconds,
})

const names = ['request_seconds', 'first_byte_seconds', 'idle_seconds', 'stream_seconds'] as const

const timers = {
  request_seconds: 'requestMs',
  first_byte_seconds: 'firstByteMs',
  idle_seconds: 'idleMs',
  stream_seconds: 'streamMs',
} as const satisfies Record<(typeof names)[number], string>

/** The timeouts of the installation that bound those of connections, in milliseconds. */
export type InstallationTimeouts = Readonly<Record<(typeof timers)[keyof typeof timers], number>>

/** Throws `invalid_request` for a timeout that is longer than the installation's. */
export function checkTimeouts(
  timeouts: TimeoutFields | null | undefined,
  installation: InstallationTimeouts,
): void {
  for (const name of names) {
    const maxSeconds = installation[timers[name]] / 1000
    if ((timeouts?.[name] ?? 0) <= maxSeconds) continue
    const field = `timeouts.${name}`
    const message = `${field}: at most ${maxSeconds} s, the timeout of this installation.`
    throw invalidRequest(field, 'out_of_range', message)
  }
}

/** Returns the options that have these timeouts; none where the change has no timeouts. */
export function toTimeoutColumns(timeouts: TimeoutFields | null | undefined): { options?: string } {
  if (timeouts === undefined) return {}
  const set = names.flatMap((name) => {
    const value = timeouts?.[name]
    return typeof value === 'number' ? [[name, value] as const] : []
  })
  return { options: JSON.stringify(set.length > 0 ? { timeouts: Object.fromEntries(set) } : {}) }
}

const Stored = z.object({ timeouts: TimeoutFields.optional() })

/** Returns the timeouts of a connection; null for one that has none. */
export function toTimeoutAnswer(options: unknown): z.output<typeof TimeoutAnswer> | null {
  const timeouts = Stored.safeParse(options).data?.timeouts
  if (!timeouts) return null
  return {
    request_seconds: timeouts.request_seconds ?? null,
    first_byte_seconds: timeouts.first_byte_seconds ?? null,
    idle_seconds: timeouts.idle_seconds ?? null,
    stream_seconds: timeouts.stream_seconds ?? null,
  }
}
