import { expect, test } from 'bun:test'
import { assertEnoughTime, limitAnswer, timeoutsOf } from './timeouts'
import { ConnectionOptions } from '../providers/connection-options'

const timers = { requestMs: 600_000, firstByteMs: 300_000, idleMs: 300_000, streamMs: 1_800_000 }

function attemptAt(
  upstreamModel: string,
  ...[timeouts, owner = null]: [timeouts?: ConnectionOptions['timeouts'], owner?: string | null]
) {
  const options = ConnectionOptions.parse(timeouts ? { timeouts } : {})
  const model = { id: `acme/${upstreamModel}`, upstreamModel }
  const ports: Parameters<typeof limitAnswer>[1]['request']['ports'] = { timers: allTimers }
  return { model, candidate: { connection: { owner, options } }, request: { ports } }
}

const allTimers = {
  ...timers,
  connectMs: 1,
  earlyHeadersMs: 1,
  keepAliveMs: 1,
  slowClientMs: 1,
  drainMs: 1,
  unreadyMs: 1,
  databaseGraceMs: 1,
}

test('finding V22: a connection without timeouts has the installation’s, in the same object', () => {
  expect(timeoutsOf(attemptAt('m'), timers)).toBe(timers)
})

test('finding V22: a connection has its own, and some of its models others', () => {
  const timeouts = {
    idle_seconds: 60,
    models: { slow: { idle_seconds: 900, stream_seconds: 3600 } },
  }
  expect(timeoutsOf(attemptAt('m', timeouts), timers)).toEqual({ ...timers, idleMs: 60_000 })
  expect(timeoutsOf(attemptAt('slow', timeouts), timers)).toEqual({
    ...timers,
    idleMs: 900_000,
    streamMs: 3_600_000,
  })
  expect(timeoutsOf(attemptAt('toString', timeouts), timers).idleMs).toBe(60_000)
})

test('timeouts of a customer’s connection are never longer than the installation’s, also where that was lowered since', () => {
  const timeouts = { idle_seconds: 400, stream_seconds: 20, request_seconds: 601 }
  expect(timeoutsOf(attemptAt('m', timeouts, 'user_1'), timers)).toEqual({
    ...timers,
    streamMs: 20_000,
  })
})

test('finding V22: the time of a whole answer is that of the attempt', () => {
  const limits: number[] = []
  const deadline = { limit: (totalMs: number) => void limits.push(totalMs) }
  limitAnswer(deadline, attemptAt('m', { request_seconds: 5 }))
  limitAnswer(deadline, attemptAt('m'))
  expect(limits).toEqual([5000, 600_000])
})

test('finding V22: a limit that is known to be too short refuses at once', () => {
  const deep = attemptAt('deep', { models: { deep: { needs_seconds: 900 } } })
  expect(() => assertEnoughTime(deep, 'stream')).not.toThrow()
  expect(() => assertEnoughTime(deep, 'whole')).toThrow(
    'Answers of "acme/deep" may take 900 s, and a request without a stream is ended after 600 s. Set "stream" to true.',
  )
  expect(() => assertEnoughTime(attemptAt('m'), 'whole')).not.toThrow()
  const deeper = attemptAt('m', { needs_seconds: 2000 })
  expect(() => assertEnoughTime(deeper, 'stream')).toThrow('a stream is ended after 1800 s.')
  expect(() => assertEnoughTime(deeper, 'whole')).toThrow(/ended after 600 s\.$/)
})

test('finding V22: timeouts are seconds up to an hour', () => {
  for (const idle_seconds of [0, 3601, -1, Infinity]) {
    expect(ConnectionOptions.safeParse({ timeouts: { idle_seconds } }).success).toBe(false)
  }
  expect(ConnectionOptions.safeParse({ timeouts: { idle: 5 } }).success).toBe(false)
})
