import { expect, test } from 'bun:test'
import { DoorStage, heartbeatSeconds, type Home } from './door-stage'
import { numbers, readStream, type Told } from './door-stream'
import { expectSums } from './door-sums'
import { inOwnNetwork } from './own-network'
import type { Cut } from './private-network'
import { openDatabase } from '../database'
import { eventually } from '../faults/asking'
import { forFile } from '../for-file'
import { becomes } from '../gateways/stage'
import { bookedOf, priceOf, requestIdOf } from '../money/till'

const ways: readonly Cut[] = ['up', 'down', 'both', 'unplugged']
const heartbeatMs = heartbeatSeconds * 1000
const limitMs = 90_000 + 8 * heartbeatMs

interface Opened {
  stage: DoorStage
  homes: ReadonlyMap<Cut, Home>
}

/** Opens a private network for each way to cut one. */
async function open(): Promise<Opened> {
  const stage = await DoorStage.open()
  const homes = ways.map(async (way) => [way, await stage.home({ isPaid: true })] as const)
  return { stage, homes: new Map(await Promise.all(homes)) }
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
async function callersOf(stage: DoorStage, home: Home, way: Cut) {
  const { network } = home
  const content = `say 1000000 every 50 ms ${way}`
  const reading = readStream(home, content)
  const waiting = stage.chat(home, 'wait 600000')
  await Bun.sleep(1000)
  network.cut(way)
  const cutAt = performance.now()
  await Bun.sleep(500)
  // Neither side has noticed yet.
  const [stream, ...plain] = await Promise.all([reading, waiting, stage.chat(home, 'Hello?')])
  const toldMs = performance.now() - cutAt
  return { content, cutAt, toldMs, stream, plain }
}

/** Cuts a network until both sides have given up the connection. */
async function cutForLong(stage: DoorStage, home: Home, way: Cut) {
  const { network, agent } = home
  const { content, cutAt, toldMs, stream, plain } = await callersOf(stage, home, way)
  await becomes(home.status, 'offline')
  const refused = await stage.chat(home, 'Hello?')
  await eventually(() => agent.said.includes('"event":"offline"'), heartbeatMs + 5000)
  const lostMs = performance.now() - cutAt
  // The answers could not be delivered.
  await eventually(() => network.count('left', content) === 1)
  // Its first attempts fail.
  await Bun.sleep(3000)
  network.mend()
  const mendedAt = performance.now()
  await becomes(home.status, 'online', 40_000)
  const backMs = performance.now() - mendedAt
  const again = await readStream(home, 'say 5')
  return { toldMs, lostMs, backMs, stream, plain, refused, again }
}

/** Counts the numbers in a stream. */
const countOf = ({ text }: Told) => text.split(' ').length - 1

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const told = (times: { toldMs: number; lostMs: number; backMs: number }) =>
  `callers were told after ${seconds(times.toldMs)}, the agent gave up after ${seconds(times.lostMs)}, ` +
  `and was back ${seconds(times.backMs)} after the mend`

const name = `G02 G03 G12: networks that are cut, with a heartbeat every ${heartbeatSeconds} s`

inOwnNetwork({ name, path: import.meta.path, limitMs }, () => {
  const opened = forFile(open, ({ stage }) => stage[Symbol.asyncDispose]())

  test(
    'G02: cut for less than the silence timeout: streams continue without loss',
    async () => {
      const cutMs = (heartbeatMs * 2) / 3
      const count = Math.round(cutMs / 50) + 40
      const seen = await everywhere(opened(), async (home, way) => {
        const reading = readStream(home, `say ${count} every 50 ms`)
        await Bun.sleep(1000)
        home.network.cut(way)
        await Bun.sleep(cutMs)
        home.network.mend()
        const { text, code, pauseMs } = await reading
        return { isWhole: text === numbers(count), code, wasCut: pauseMs > cutMs / 2 }
      })
      expect(seen).toEqual(inAll({ isWhole: true, code: undefined, wasCut: true }))
    },
    limitMs,
  )

  test(
    'G03: cut for longer: callers get an error, each request is booked once, and agents reconnect by themselves',
    async () => {
      const { stage } = opened()
      const seen = await everywhere(opened(), (home, way) => cutForLong(stage, home, way))
      await using sql = await openDatabase(stage.tollgate.dataDir)
      for (const [way, { stream, plain, refused, again, ...times }] of Object.entries(seen)) {
        console.log(`G03 ${way}: ${told(times)}`)
        expect([stream.code, stream.text]).toEqual(['connection_failed', numbers(countOf(stream))])
        for (const { status, error, headers } of plain) {
          expect([status, error.code]).toEqual([502, 'connection_failed'])
          expect(headers.get('x-should-retry')).toBe('false')
        }
        expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
        // Where only the direction to the agent is cut, its frames still arrive until it gives up.
        expect(times.toldMs).toBeWithin(heartbeatMs, 2.5 * heartbeatMs + 4000)
        expect(times.lostMs).toBeWithin(2 * heartbeatMs - 1000, 2.5 * heartbeatMs + 4000)
        expect([again.text, again.code]).toEqual([numbers(5), undefined])
        const [cut, ...failed] = await bookedOf(sql, [stream.requestId])
        expect(failed).toEqual([])
        expect(cut).toMatchObject({ outcome: 'connection_failed', estimated: true })
        expect(cut?.outputTokens).toBeWithin(countOf(stream) / 2, countOf(stream) * 2)
        expect(cut?.cost).toBe(priceOf(cut?.inputTokens ?? 0, cut?.outputTokens ?? 0))
        for (const { outcome, cost } of await bookedOf(sql, plain.map(requestIdOf))) {
          expect([outcome, cost]).toEqual(['connection_failed', 0n])
        }
      }
    },
    limitMs,
  )

  test(
    'G12: whatever was cut, ledger, logs and audit agree',
    () => expectSums(opened().stage, [...opened().homes.values()]),
    limitMs,
  )
})
