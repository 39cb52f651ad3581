import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure, recordTimeFigure } from '../../../server/testing/figures'
import { rm } from 'node:fs/promises'
import { silentAttempts, sumsOf, waitForAttempts } from './booked'
import { createObservations, startLoad } from './client-load'
import { connectProvider } from '../../harness/nodes'
import { openDatabase, postgresPid } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { newDataDir, startGateway, type Customer, type Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

const kills = 10
const recoveredMs = 5000

setDefaultTimeout(180_000)

let dataDir = ''
let upstream: FakeProvider
let gateway: Gateway
const environment = { LOG_LEVEL: 'error', MINIMUM_BALANCE_USD: '0' }

beforeAll(async () => {
  upstream = await startFakeProvider()
  dataDir = await newDataDir()
  gateway = await startGateway({ dataDir, environment })
  await connectProvider(gateway, upstream)
  // The shared plan is created with the first.
  await newCustomers(1)
  for (const name of ['chunks-5', 'chunks-12-gap-10']) {
    const size = { category: 'chat', context_length: 8192, max_output_tokens: 4096 }
    const pricing = { input: 1, output: 4 }
    await gateway.admin('POST', '/models', { id: `fake/${name}`, name, pricing, ...size })
  }
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const newCustomers = (count: number): Promise<Customer[]> =>
  Promise.all(Array.from({ length: count }, () => gateway.customer({}, { credit: 1000 })))

/** Measures the time until a customer is served who is not cached. */
const countServed = ({ key }: Customer): Promise<number> =>
  eventually(async () => {
    const body = { model: 'fake/chunks-5', messages }
    const { status, error } = await sendRequest(gateway, { key, body })
    if (status !== 200) expect([status, error.code]).toEqual([503, 'gateway_unavailable'])
    return status === 200
  })

/** Records after how long a customer was served again. */
const recordServed = (when: string, ms: number, atMost = recoveredMs) =>
  recordFigure(`C13: served again ${when}`, ms, { unit: 'ms', atMost })

const median = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN
const shown = (times: readonly number[]) => times.map((ms) => ms.toFixed(0)).join(' ')

/** Kills the database, once it is running. */
async function killDatabase(): Promise<void> {
  await eventually(async () => {
    const pid = await postgresPid(dataDir).catch(() => undefined)
    return pid !== undefined && killed(pid)
  })
}

/** Kills a process. Returns whether it still ran. */
function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/** Kills gateway and database at the same moment, as a crash of the machine would. */
async function killBoth(): Promise<void> {
  await killDatabase()
  await gateway.stop('SIGKILL')
  const name = 'C13: started after both were killed'
  gateway = await recordTimeFigure(name, { atMost: recoveredMs }, () =>
    startGateway({ dataDir, environment }),
  )
}

test(`C13: the embedded database killed ${kills} times under load, alone and with its gateway: nothing is lost`, async () => {
  const customers = await newCustomers(8)
  const strangers = await newCustomers(kills)
  const models: [string, number][] = [
    ['fake/chunks-5', 5],
    ['fake/chunks-12-gap-10', 12],
  ]
  const witness = createObservations()
  const load = startLoad(() => gateway, { customers, models }, witness)
  const times: number[] = []
  for (const [turn, stranger] of strangers.entries()) {
    const finished = witness.completed.length + 10 + Math.floor(Math.random() * 60)
    await eventually(() => witness.completed.length > finished)
    if (turn % 2 === 0) {
      await killDatabase()
      times.push(await countServed(stranger))
    } else {
      await killBoth()
      recordServed('after its gateway was killed too', await countServed(stranger))
    }
  }
  await load.stop()
  await using sql = await openDatabase(dataDir)
  await waitForAttempts({ sql, upstream }, customers, witness.completed.length)
  const sums = await sumsOf(sql, customers)
  const silent = await silentAttempts({ sql, upstream }, customers)
  console.log(
    `C13: ${kills} kills, ${witness.completed.length} finished, ${witness.broken} broken; ${sums.settled} settled, ` +
      `${sums.orphans} orphans, doubled ${sums.doubled}, silent ${silent}; served again after ` +
      `${shown(times)} ms`,
  )
  // One slow recovery may be due to the machine, most are not.
  recordServed('after the database was killed', median(times))
  expect([sums.doubled, sums.chargedOrphans, silent]).toEqual([0, 0, 0])
  expect(witness.completed.length).toBeGreaterThan(10 * kills)
  const attempts = upstream.requests().length
  await expectSoundLedger(sql, { completed: witness.completed, attempts })
})

test('C13: killed again while it starts: the gateway stays up, and serves when the database is back', async () => {
  const strangers = await newCustomers(2)
  for (const stranger of strangers) {
    const first = await postgresPid(dataDir)
    process.kill(first, 'SIGKILL')
    await eventually(async () => {
      const next = await postgresPid(dataDir).catch(() => first)
      return next !== first && killed(next)
    })
    recordServed(
      'after the database was killed at its start',
      await countServed(stranger),
      2 * recoveredMs,
    )
  }
})
