import { expect, test } from 'bun:test'
import { recordTimeFigure } from '../../../server/testing/figures'
import { TunnelFixture, type Home } from './tunnel-fixture'
import { numbers, readStream } from './door-stream'
import { expectSums } from './door-sums'
import { runInIsolatedNetwork } from './own-network'
import type { Cut } from './private-network'
import type { RunningConnect } from '../../gateway/connect/run-connect'
import { openDatabase } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'
import { forFile } from '../../harness/for-file'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { findBooked, priceOf, requestIdOf } from '../../harness/ledger'

const ways: readonly Cut[] = ['up', 'down', 'both', 'unplugged']
const given = process.env['HEARTBEAT_SECONDS']
/** Twice that is a silence: far more than a cut of two seconds, and what a machine adds to it that stands still. */
const heartbeatSeconds = Number(given ?? 8)
const heartbeatMs = heartbeatSeconds * 1000
/** The numbers that are said while a network is cut, one in 50 ms: in less than a silence. */
const unheardCount = given === undefined ? 40 : Math.round(heartbeatMs / 75)
/** A silence since the last frame, which came a moment before the cut. */
const givenUp = { atLeast: 2 * heartbeatMs - 1000, atMost: 2.5 * heartbeatMs + 4000 }
const limitMs = 150_000 + 8 * heartbeatMs

interface Opened {
  fixture: TunnelFixture
  homes: ReadonlyMap<Cut, Home>
}

/** Opens a private network for each way to cut one. */
async function open(): Promise<Opened> {
  const fixture = await TunnelFixture.open({
    GATEWAY_HEARTBEAT_SECONDS: String(heartbeatSeconds),
    IDLE_TIMEOUT_SECONDS: String(60 + 3 * heartbeatSeconds),
  })
  const homes = ways.map(async (way) => [way, await fixture.home({ isPaid: true })] as const)
  return { fixture, homes: new Map(await Promise.all(homes)) }
}

const inAll = <Value>(value: Value) => Object.fromEntries(ways.map((way) => [way, value]))

/** Runs an action in all networks at once, as it is mostly waiting. */
async function everywhere<Result>(
  { homes }: Opened,
  work: (home: Home, way: Cut) => Promise<Result>,
): Promise<Record<string, Result>> {
  const all = [...homes].map(async ([way, home]) => [way, await work(home, way)] as const)
  return Object.fromEntries(await Promise.all(all))
}

const lines = (agent: RunningConnect, event: string) =>
  agent.output.split('\n').filter((line) => line.includes(`"event":"${event}"`))

/** Returns what the callers of a network observed that was cut while they waited, until both sides have given it up. */
async function callersOf(fixture: TunnelFixture, home: Home, way: Cut) {
  const { network, agent } = home
  const content = `say 1000000 every 50 ms ${way}`
  const middle = Promise.withResolvers<void>()
  const reading = readStream(home, content, (text) => {
    if (text.length > 60) middle.resolve()
  })
  const waiting = fixture.chat(home, 'wait 600000')
  await middle.promise
  await eventually(() => network.count('asked', 'wait 600000') === 1)
  // Each side receives a frame of the other.
  expect((await fixture.chat(home, 'Hello?')).status).toBe(200)
  network.cut(way)
  // Neither side has noticed yet.
  const callers = () => Promise.all([reading, waiting, fixture.chat(home, 'Hello?')])
  const isLost = () => lines(agent, 'offline').length > 0
  const [[stream, ...plain]] = await Promise.all([
    recordTimeFigure(`G03: callers get an error after, cut ${way}`, givenUp, callers),
    recordTimeFigure(`G03: the agent gives up after, cut ${way}`, givenUp, () =>
      eventually(isLost, 30_000 + 2 * heartbeatMs),
    ),
  ])
  return { content, stream, plain }
}

/** Cuts a network until both sides have given up the connection. */
async function cutForLong(fixture: TunnelFixture, home: Home, way: Cut) {
  const { network, agent } = home
  const { content, stream, plain } = await callersOf(fixture, home, way)
  await waitForValue(home.status, 'offline')
  const refused = await fixture.chat(home, 'Hello?')
  // The answers could not be delivered.
  await eventually(() => network.count('left', content) === 1)
  // Its first attempt fails: at once where there is no network, else when the system gives it up.
  await eventually(() => lines(agent, 'offline').length > 1 || network.isConnecting())
  network.mend()
  await waitForValue(home.status, 'online', 90_000)
  const again = await readStream(home, 'say 5')
  return { stream, plain, refused, again }
}

/** Counts the numbers in a stream. */
const countIn = (text: string) => text.split(' ').length - 1

const name = `G02 G03 G12: networks that are cut, with a heartbeat every ${heartbeatSeconds} s`

runInIsolatedNetwork({ name, path: import.meta.path, limitMs: 3 * limitMs }, () => {
  const opened = forFile(open, ({ fixture }) => fixture[Symbol.asyncDispose]())

  test(
    'G02: cut for less than the silence timeout: streams continue without loss',
    async () => {
      // Ten seconds more than the cut: it falls into the stream on a slow machine too.
      const count = unheardCount + 200
      const content = `say ${count} every 50 ms`
      const seen = await everywhere(opened(), async (home, way) => {
        let heard = 0
        const reading = readStream(home, content, (text) => (heard = countIn(text)))
        await eventually(() => heard > 0)
        home.network.cut(way)
        await eventually(() => home.network.said(content) - heard >= unheardCount)
        home.network.mend()
        const { text, code } = await reading
        return { isWhole: text === numbers(count), code }
      })
      expect(seen).toEqual(inAll({ isWhole: true, code: undefined }))
    },
    limitMs,
  )

  test(
    'G03: cut for longer: callers receive an error, each request is booked once, and agents reconnect by themselves',
    async () => {
      const { fixture } = opened()
      const seen = await everywhere(opened(), (home, way) => cutForLong(fixture, home, way))
      await using sql = await openDatabase(fixture.tollgate.dataDir)
      for (const { stream, plain, refused, again } of Object.values(seen)) {
        expect([stream.code, stream.text]).toEqual([
          'connection_failed',
          numbers(countIn(stream.text)),
        ])
        for (const { status, error, headers } of plain) {
          expect([status, error.code]).toEqual([502, 'connection_failed'])
          expect(headers.get('x-should-retry')).toBe('false')
        }
        expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
        expect([again.text, again.code]).toEqual([numbers(5), undefined])
        const [cut, ...failed] = await findBooked(sql, [stream.requestId])
        expect(failed).toEqual([])
        expect(cut).toMatchObject({ outcome: 'connection_failed', estimated: true })
        expect(cut?.outputTokens).toBeWithin(countIn(stream.text) / 2, countIn(stream.text) * 2)
        expect(cut?.cost).toBe(priceOf(cut?.inputTokens ?? 0, cut?.outputTokens ?? 0))
        for (const { outcome, cost } of await findBooked(sql, plain.map(requestIdOf))) {
          expect([outcome, cost]).toEqual(['connection_failed', 0n])
        }
      }
    },
    limitMs,
  )

  test(
    'G12: ledger, logs and audit agree after every cut',
    () => expectSums(opened().fixture, [...opened().homes.values()]),
    limitMs,
  )
})
