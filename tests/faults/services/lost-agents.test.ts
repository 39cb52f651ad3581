import { expect, test } from 'bun:test'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { TunnelFixture, heartbeatSeconds, type Home } from './tunnel-fixture'
import { numbers, readStream } from './door-stream'
import { expectSums } from './door-sums'
import { runInIsolatedNetwork } from './own-network'
import type { RunningConnect } from '../../gateway/connect/run-connect'
import { call } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'
import { forFile } from '../../harness/for-file'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { findBooked, priceOf } from '../../harness/ledger'

const heartbeatMs = heartbeatSeconds * 1000
const limitMs = 120_000 + 4 * heartbeatMs

async function open() {
  const fixture = await TunnelFixture.open()
  const opening = [true, true, true].map((isPaid) => fixture.home({ isPaid }))
  const homes = await Promise.all(opening)
  const [home, other] = homes
  if (!home || !other) throw new Error('there are three')
  return { fixture, home, other, homes }
}

/** Reads an endless stream; resolves in its middle. */
async function beginEndless(home: Home, content: string) {
  const middle = Promise.withResolvers<void>()
  const ended = readStream(home, content, (text) => {
    if (text.length > 20) middle.resolve()
  })
  await middle.promise
  return { ended }
}

/** Checks that the next call of a model is answered. */
async function expectServed(home: Home): Promise<void> {
  const { text, code } = await readStream(home, 'say 5')
  expect([text, code]).toEqual([numbers(5), undefined])
}

/** Returns the single event of a request. */
async function eventOf(fixture: TunnelFixture, requestId: string) {
  await using sql = await openDatabase(fixture.tollgate.dataDir)
  const [event, ...others] = await findBooked(sql, [requestId])
  if (!event || others.length > 0) throw new Error(`${others.length + 1} events of one request`)
  return event
}

const lines = (agent: RunningConnect, event: string) =>
  agent.output.split('\n').filter((line) => line.includes(`"event":"${event}"`))

/** Returns the time at which Tollgate last heard from an agent, and that of its answer, by its own clock. */
async function lastSeen(fixture: TunnelFixture, { owner }: Home) {
  const { body, headers } = await call(fixture.tollgate, owner, 'GET /gateways')
  const [shown] = Array.isArray(body['gateways']) ? body['gateways'] : []
  const seenAt = Date.parse(shown?.last_heartbeat_at)
  return { seenAt, shownAt: Date.parse(headers.get('date') ?? '') }
}

/** Clocks seven hours ahead, seven behind, and alternating each second. */
const clocks = [
  { CLOCK_HOURS: '7' },
  { CLOCK_HOURS: '-7' },
  { CLOCK_HOURS: '7', CLOCK_JUMPS: 'true' },
]

/** Starts an agent with a clock beside the current one, which is notified and exits. */
async function replaced(fixture: TunnelFixture, home: Home, clock: Record<string, string> = {}) {
  const older = home.agent
  const startedAt = Date.now()
  const agent = home.connect({ ...clock, TOLLGATE_BUN: fixture.otherClock })
  expect(await older.ended()).toBe(4)
  expect(lines(older, 'stopped').join()).toContain('connected with the same token')
  await eventually(() => lines(agent, 'online').length > 0)
  const lost = lines(agent, 'offline')
  // Longer than the silence timeout, with and without stream events.
  const longMs = Math.round(2.6 * heartbeatMs)
  const count = Math.round(longMs / 50)
  const [stream, { status }] = await Promise.all([
    readStream(home, `say ${count} every 50 ms`),
    fixture.chat(home, `wait ${longMs}`),
  ])
  expect([stream.text, stream.code, status]).toEqual([numbers(count), undefined, 200])
  expect([lines(agent, 'offline'), await home.status()]).toEqual([lost, 'online'])
  // By Tollgate's clock: since the agent is here, and not hours away.
  const { seenAt, shownAt } = await lastSeen(fixture, home)
  expect(seenAt).toBeWithin(startedAt, Date.now() + 1000)
  recordFigure('G11: the age of the last heartbeat', shownAt - seenAt, {
    unit: 'ms',
    atMost: 2 * heartbeatMs,
  })
  // Its clock really differs.
  const hours = lines(agent, 'online').map((line) => hoursFrom(seenAt, line))
  expect(new Set(hours.map(Math.abs))).toEqual(new Set([7]))
}

/** Returns the hours from a time to that of a line in an agent's log. */
const hoursFrom = (at: number, line: string) =>
  Math.round((Date.parse(JSON.parse(line).time) - at) / 3_600_000)

const name = 'G04 G05 G06 G10 G11 G12: agents that are lost, and come back'

runInIsolatedNetwork({ name, path: import.meta.path, limitMs: 3 * limitMs }, () => {
  const opened = forFile(open, ({ fixture }) => fixture[Symbol.asyncDispose]())

  test(
    'G04: an agent is killed within a stream: it is cut at once, booked once, and the next agent serves',
    async () => {
      const { fixture, home } = opened()
      const { network, agent } = home
      const content = 'say 1000000 every 50 ms, killed'
      const { ended } = await beginEndless(home, content)
      process.kill(agent.agentPid, 'SIGKILL')
      const figure = 'G04: a stream of a killed agent is cut after'
      const cut = await recordTimeFigure(figure, { atMost: 2000 }, () => ended)
      expect(cut.code).toBe('connection_failed')
      expect(numbers(1000)).toStartWith(cut.text)
      expect(await agent.ended()).toBe(128 + 9)
      // Its tools and requests are gone with it.
      await eventually(() => !network.programs().some((line) => line.includes('program-for-tests')))
      await eventually(() => network.count('left', content) === 1)
      const { outcome, estimated, inputTokens, outputTokens, cost } = await eventOf(
        fixture,
        cut.requestId,
      )
      expect([outcome, estimated]).toEqual(['connection_failed', true])
      // A slow machine delivers more until the kill.
      const delivered = cut.text.split(' ').length - 1
      expect(outputTokens).toBeWithin(5, Math.max(30, 2 * delivered))
      expect(cost).toBe(priceOf(inputTokens, outputTokens))
      await waitForValue(home.status, 'offline')
      home.connect()
      await waitForValue(home.status, 'online')
      await expectServed(home)
    },
    limitMs,
  )

  test(
    'G05: Tollgate is killed within a stream: agents reconnect by themselves, and running requests become orphans',
    async () => {
      const { fixture, home, other } = opened()
      const both = [home, other]
      const waiting = fixture.chat(other, 'wait 600000').catch(() => 'no answer')
      await eventually(() => other.network.count('asked', 'wait 600000') === 1)
      const before = both.map(({ agent }) => lines(agent, 'online').length)
      const content = 'say 1000000 every 50 ms, orphaned'
      const { ended } = await beginEndless(home, content)
      await fixture.tollgate.stop('SIGKILL')
      const cut = await ended
      expect([cut.code, await waiting]).toEqual(['ECONNRESET', 'no answer'])
      await fixture.restart()
      for (const [at, { agent }] of both.entries()) {
        await eventually(() => lines(agent, 'online').length > (before[at] ?? 0), 60_000)
      }
      await expectServed(home)
      await expectServed(other)
      expect(await eventOf(fixture, cut.requestId)).toMatchObject({ state: 'orphan', cost: 0n })
      const path = `GET /account/request-logs/${cut.requestId}`
      // Its log may be written later than its event.
      const logged = () => call(fixture.tollgate, home.caller, path)
      await eventually(async () => (await logged()).status === 200)
      expect((await logged()).body).toMatchObject({ status: 'error', gateway_type: 3 })
      // Requests without a waiting client are not retried.
      expect(home.network.count('asked', content)).toBe(1)
      expect(other.network.count('asked', 'wait 600000')).toBe(1)
    },
    limitMs,
  )

  test(
    'G06: a frozen agent with an open socket: given up after two heartbeats, back when it resumes',
    async () => {
      const { fixture, home } = opened()
      const { agent, network } = home
      const { agentPid } = agent
      const content = 'say 1000000 every 50 ms, asleep'
      // Later tests need it awake, whatever the result.
      using awake = { [Symbol.dispose]: () => process.kill(agentPid, 'SIGCONT') }
      const { ended } = await beginEndless(home, content)
      process.kill(agentPid, 'SIGSTOP')
      const bound = { atLeast: 2 * heartbeatMs - 500, atMost: 2.2 * heartbeatMs + 2000 }
      // It is not given up yet: a request is sent to it.
      const [cut, late] = await recordTimeFigure(
        'G06: a frozen agent is given up after',
        bound,
        () => Promise.all([ended, fixture.chat(home, 'Hello?')]),
      )
      expect(cut.code).toBe('connection_failed')
      expect([late.status, late.error.code]).toEqual([502, 'connection_failed'])
      await waitForValue(home.status, 'offline')
      const { status, error } = await fixture.chat(home, 'Hello?')
      expect([status, error.code]).toEqual([503, 'gateway_unavailable'])
      awake[Symbol.dispose]()
      // Its delay is random, up to 30 s after the failures of the restart before.
      await waitForValue(home.status, 'online', 60_000)
      await eventually(() => network.count('left', content) === 1)
      await expectServed(home)
      expect(await eventOf(fixture, cut.requestId)).toMatchObject({ outcome: 'connection_failed' })
    },
    limitMs,
  )

  test(
    'G10 G11: an agent with the token of another replaces it, and serves with any clock',
    () =>
      Promise.all(opened().homes.map((home, at) => replaced(opened().fixture, home, clocks[at]))),
    limitMs,
  )

  test('G12: ledger, logs and audit agree', () => {
    const { fixture, homes } = opened()
    return expectSums(fixture, homes, { unanswered: 1 })
  })
})
