import type { GatewayPorts } from './ports'
import { invalidRequest } from '../errors'
import type { Timers } from '../platform/config/config'
import type { ConnectionOptions, ModelTimeouts } from '../providers/connection-options'
import { AttemptFailed } from '../upstream/attempt-failed'

/** The timeouts of one attempt, in milliseconds. */
type AttemptTimeouts = Pick<Timers, 'requestMs' | 'firstByteMs' | 'idleMs' | 'streamMs'>

interface Timed {
  model: { upstreamModel: string }
  candidate: {
    connection: { owner: string | null; options: Pick<ConnectionOptions, 'timeouts'> }
  }
}

interface TimedAttempt extends Timed {
  model: Timed['model'] & { id: string }
  request: { ports: Pick<GatewayPorts, 'timers'> }
}

/**
 * Returns the timeouts of an attempt: its model's on the connection, else the connection's, else the installation's,
 * which bound those of a customer's connection.
 */
export function timeoutsOf<Defaults extends Partial<AttemptTimeouts>>(
  attempt: Timed,
  timers: Defaults,
): Defaults {
  const own = readOwn(attempt)
  if (!own) return timers
  const set = toMilliseconds(own)
  return { ...timers, ...(attempt.candidate.connection.owner === null ? set : bound(set, timers)) }
}

const bound = (
  { requestMs, firstByteMs, idleMs, streamMs }: Partial<AttemptTimeouts>,
  max: Partial<AttemptTimeouts>,
): Partial<AttemptTimeouts> => ({
  ...(requestMs !== undefined && { requestMs: Math.min(requestMs, max.requestMs ?? Infinity) }),
  ...(firstByteMs !== undefined && {
    firstByteMs: Math.min(firstByteMs, max.firstByteMs ?? Infinity),
  }),
  ...(idleMs !== undefined && { idleMs: Math.min(idleMs, max.idleMs ?? Infinity) }),
  ...(streamMs !== undefined && { streamMs: Math.min(streamMs, max.streamMs ?? Infinity) }),
})

/** The timeouts that the connection of an attempt has for its model; undefined for none. */
function readOwn({ model, candidate }: Timed): ModelTimeouts | undefined {
  const { timeouts } = candidate.connection.options
  if (!timeouts) return undefined
  const { models = {}, ...all } = timeouts
  return Object.hasOwn(models, model.upstreamModel)
    ? { ...all, ...models[model.upstreamModel] }
    : all
}

const toMilliseconds = ({
  request_seconds: request,
  first_byte_seconds: firstByte,
  idle_seconds: idle,
  stream_seconds: stream,
}: ModelTimeouts): Partial<AttemptTimeouts> => ({
  ...(request !== undefined && { requestMs: request * 1000 }),
  ...(firstByte !== undefined && { firstByteMs: firstByte * 1000 }),
  ...(idle !== undefined && { idleMs: idle * 1000 }),
  ...(stream !== undefined && { streamMs: stream * 1000 }),
})

/** Gives a deadline the time of a whole answer at an attempt. */
export function limitAnswer(
  deadline: { limit: (totalMs: number) => void },
  attempt: TimedAttempt,
): void {
  deadline.limit(timeoutsOf(attempt, attempt.request.ports.timers).requestMs)
}

/** Throws `AttemptFailed` where an answer is known to need more time than it would get: another connection may have it. */
export function assertEnoughTime(attempt: TimedAttempt, kind: 'stream' | 'whole'): void {
  const neededSeconds = readOwn(attempt)?.needs_seconds ?? 0
  if (neededSeconds === 0) return
  const { streamMs, requestMs } = timeoutsOf(attempt, attempt.request.ports.timers)
  const [availableMs, otherMs] = kind === 'stream' ? [streamMs, 0] : [requestMs, streamMs]
  if (neededSeconds * 1000 <= availableMs) return
  const what = kind === 'stream' ? 'a stream is' : 'a request without a stream is'
  const advice = neededSeconds * 1000 <= otherMs ? ' Set "stream" to true.' : ''
  const refusal = invalidRequest(
    'stream',
    'unsupported_by_model',
    `Answers of "${attempt.model.id}" may take ${neededSeconds} s, and ${what} ended after ${Math.round(availableMs / 1000)} s.${advice}`,
  )
  throw new AttemptFailed(refusal, true)
}
