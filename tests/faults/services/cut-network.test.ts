import { expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { TunnelFixture, type Home } from './tunnel-fixture'
import { numbers, readStream, type StreamResult } from './door-stream'
import { expectSums } from './door-sums'
import { runInIsolatedNetwork } from './own-network'
import type { Cut } from './private-network'
import { openDatabase } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'
import { forFile } from '../../harness/for-file'
import { waitForValue } from '../../gateway/tunnel/fixture'
import { findBooked, priceOf, requestIdOf } from '../../harness/ledger'

const ways: readonly Cut[] = ['up', 'down', 'both', 'unplugged']
const given = process.env['HEARTBEAT_SECONDS']
/** Twice that is a silence: far more than a cut of two seconds and what a busy machine adds to it. */
const heartbeatSeconds = Number(given ?? 6)
const heartbeatMs = heartbeatSeconds * 1000
/** Less than a silence. */
const shortCutMs = given === undefined ? 2000 : (heartbeatMs * 2) / 3
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

/** Returns what the callers of a network observed that was cut while they waited. */
async function callersOf(fixture: TunnelFixture, home: Home, way: Cut) {
  const { network } = home
  const content = `say 1000000 every 50 ms ${way}`
  const middle = Promise.withResolvers<void>()
  const reading = readStream(home, content, (text) => {
    if (text.length > 60) middle.resolve()
  })
  const waiting = fixture.chat(home, 'wait 600000')
  await middle.promise
  await eventually(() => network.count('asked', 'wait 600000') === 1)
  // Each side receives a frame of the other after this.
  const heardAt = performance.now()
  expect((await fixture.chat(home, 'Hello?')).status).toBe(200)
  network.cut(way)
  const cutAt = performance.now()
  await Bun.sleep(500)
  // Neither side has noticed yet.
  const [stream, ...plain] = await Promise.all([reading, waiting, fixture.chat(home, 'Hello?')])
  const reportedMs = performance.now() - cutAt
  return { content, cutAt, uncutMs: cutAt - heardAt, reportedMs, stream, plain }
}

/** Cuts a network until both sides have given up the connection. */
async function cutForLong(fixture: TunnelFixture, home: Home, way: Cut) {
  const { network, agent } = home
  const called = await callersOf(fixture, home, way)
  const { content, cutAt, uncutMs, reportedMs, stream, plain } = called
  await waitForValue(home.status, 'offline')
  const refused = await fixture.chat(home, 'Hello?')
  await eventually(() => agent.output.includes('"event":"offline"'), 30_000 + 2 * heartbeatMs)
  const lostMs = performance.now() - cutAt
  // The answers could not be delivered.
  await eventually(() => network.count('left', content) === 1)
  // Its first attempts fail.
  await Bun.sleep(3000)
  network.mend()
  const mendedAt = performance.now()
  await waitForValue(home.status, 'online', 90_000)
  const backMs = performance.now() - mendedAt
  const again = await readStream(home, 'say 5')
  return { uncutMs, reportedMs, lostMs, backMs, stream, plain, refused, again }
}

/** Counts the numbers in a stream. */
const countOf = ({ text }: StreamResult) => text.split(' ').length - 1

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const report = (times: { reportedMs: number; lostMs: number; backMs: number }) =>
  `callers were told after ${seconds(times.reportedMs)}, the agent gave up after ${seconds(times.lostMs)}, ` +
  `and was back ${seconds(times.backMs)} after the mend`

const name = `G02 G03 G12: networks that are cut, with a heartbeat every ${heartbeatSeconds} s`

runInIsolatedNetwork({ name, path: import.meta.path, limitMs }, () => {
  const opened = forFile(open, ({ fixture }) => fixture[Symbol.asyncDispose]())

  test(
    'G02: cut for less than the silence timeout: streams continue without loss',
    async () => {
      // Ten seconds more than the cut: it falls into the stream on a slow machine too.
      const count = Math.round(shortCutMs / 50) + 200
      const seen = await everywhere(opened(), async (home, way) => {
        const begun = Promise.withResolvers<void>()
        const reading = readStream(home, `say ${count} every 50 ms`, () => begun.resolve())
        await begun.promise
        home.network.cut(way)
        await Bun.sleep(shortCutMs)
        home.network.mend()
        const { text, code, pauseMs } = await reading
        return { isWhole: text === numbers(count), code, wasCut: pauseMs > shortCutMs / 2 }
      })
      expect(seen).toEqual(inAll({ isWhole: true, code: undefined, wasCut: true }))
    },
    limitMs,
  )

  test(
    'G03: cut for longer: callers get an error, each request is booked once, and agents reconnect by themselves',
    async () => {
      const { fixture } = opened()
      const seen = await everywhere(opened(), (home, way) => cutForLong(fixture, home, way))
      await using sql = await openDatabase(fixture.tollgate.dataDir)
      for (const [way, { stream, plain, refused, again, ...times }] of Object.entries(seen)) {
        console.log(`G03 ${way}: ${report(times)}`)
        expect([stream.code, stream.text]).toEqual(['connection_failed', numbers(countOf(stream))])
        for (const { status, error, headers } of plain) {
          expect([status, error.code]).toEqual([502, 'connection_failed'])
          expect(headers.get('x-should-retry')).toBe('false')
        }
        expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
        // Nothing is given up before a silence since the last frame, which may have come long before the cut.
        const silenceMs = 2 * heartbeatMs - times.uncutMs
        expect(times.reportedMs).toBeGreaterThanOrEqual(silenceMs)
        expect(times.lostMs).toBeGreaterThanOrEqual(silenceMs)
        const bound = { unit: 'ms', atMost: 2.5 * heartbeatMs + 4000 }
        recordFigure(`G03: callers get an error after, cut ${way}`, times.reportedMs, bound)
        recordFigure(`G03: the agent gives up after, cut ${way}`, times.lostMs, bound)
        expect([again.text, again.code]).toEqual([numbers(5), undefined])
        const [cut, ...failed] = await findBooked(sql, [stream.requestId])
        expect(failed).toEqual([])
        expect(cut).toMatchObject({ outcome: 'connection_failed', estimated: true })
        expect(cut?.outputTokens).toBeWithin(countOf(stream) / 2, countOf(stream) * 2)
        expect(cut?.cost).toBe(priceOf(cut?.inputTokens ?? 0, cut?.outputTokens ?? 0))
        for (const { outcome, cost } of await findBooked(sql, plain.map(requestIdOf))) {
          expect([outcome, cost]).toEqual(['connection_failed', 0n])
        }
      }
    },
    limitMs,
  )

  test(
    'G12: whatever was cut, ledger, logs and audit agree',
    () => expectSums(opened().fixture, [...opened().homes.values()]),
    limitMs,
  )
})
