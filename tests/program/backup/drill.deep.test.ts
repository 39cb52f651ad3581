import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../harness/run-command'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { waitUntilBooked } from '../../harness/ledger'
import {
  newDataDir,
  startGateway,
  upstreamSecret,
  type Customer,
  type Gateway,
} from '../../harness/server'
import { verify } from '../../../server/src/commands/backup/read'
import { startPostgres } from '../../harness/postgres-server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

let upstream: FakeProvider
let dataDir: string
let files: string

beforeAll(async () => {
  upstream = await startFakeProvider()
  dataDir = await newDataDir()
  files = await mkdtemp(join(tmpdir(), 'tollgate-backup-'))
})
afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  for (const path of [dataDir, files]) await rm(path, { recursive: true, force: true })
})

async function setUp(gateway: Gateway): Promise<Customer[]> {
  gateway.recorder.canary(upstreamSecret)
  const provider = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: upstream.url }
  await gateway.admin('POST', '/providers', provider)
  const connection = { name: 'fake', provider: 'fake', api_key: upstreamSecret }
  await gateway.admin('POST', '/connections', connection)
  const size = { category: 'chat', context_length: 8192, max_output_tokens: 4096 }
  const pricing = { input: 1, output: 4 }
  await gateway.admin('POST', '/models', { id: 'fake/ok', name: 'ok', pricing, ...size })
  const customers: Customer[] = []
  while (customers.length < 4) customers.push(await gateway.customer({}, { credit: 10 }))
  return customers
}

/** Requests of all customers, some at once, until `isEnough`; resolves with how many were answered. */
async function load(
  gateway: Gateway,
  customers: readonly Customer[],
  isEnough: (answered: number) => boolean,
): Promise<number> {
  let answered = 0
  const one = async ({ key }: Customer) => {
    while (!isEnough(answered)) {
      const { status } = await sendRequest(gateway, { key, body: { model: 'fake/ok', messages } })
      if (status !== 200) throw new Error(`a request of the load was answered ${status}`)
      answered += 1
    }
  }
  await Promise.all(customers.map(one))
  return answered
}

interface Books {
  events: number
  twice: number
  cost: bigint
  posted: bigint
}

/** What the ledger says of the fake provider's model, and of its customers' balances. */
async function booksOf(directory: string): Promise<Books> {
  await using sql = await openDatabase(directory)
  const [row] = await sql`
    select count(*)::int as events, (count(*) - count(distinct id))::int as twice,
      sum(cost)::text as cost,
      (select sum(posted)::text from credit_account where id in (select user_id from usage_event))
        as posted
    from usage_event where state = 'settled' and model = 'fake/ok'`
  return { ...row, cost: BigInt(row.cost), posted: BigInt(row.posted) }
}

/** Waits until so many requests are booked. */
async function untilBooked(count: number): Promise<void> {
  await using sql = await openDatabase(dataDir)
  await eventually(async () => {
    const [row] = await sql`select count(*) as booked from usage_event`
    return Number(row.booked) >= count
  })
}

const audited = async () => (await runCommand('audit', { DATA_DIR: dataDir })).out.split(':')[0]

test('C12: a backup made under load, restored after a kill: later rows of the journal are booked once', async () => {
  const file = join(files, 'drill.tar.gz')
  const total = { answered: 0 }
  let customers: Customer[] = []
  let inBackup = 0
  {
    const gateway = await startGateway({ dataDir })
    customers = await setUp(gateway)
    total.answered += await load(gateway, customers, (answered) => answered >= 60)
    await untilBooked(1)
    let isDone = false
    const loading = load(gateway, customers, () => isDone)
    const made = await runCommand('backup', { DATA_DIR: dataDir }, file, '--json').finally(
      () => (isDone = true),
    )
    total.answered += await loading
    expect([made.code, made.err]).toEqual([0, ''])
    inBackup = Number(JSON.parse(made.out).rows.usage_event)
    expect(inBackup).toBeGreaterThan(0)
    total.answered += await load(gateway, customers, (answered) => answered >= 60)
    await untilBooked(total.answered)
    // What comes now may not be booked when it is killed.
    total.answered += await load(gateway, customers, (answered) => answered >= 8)
    await gateway.stop('SIGKILL')
  }
  expect(inBackup).toBeLessThan(total.answered)
  expect((await stat(file)).mode & 0o777).toBe(0o600)

  const refused = await runCommand('restore', { DATA_DIR: dataDir }, file)
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('not empty')])
  const restored = await runCommand('restore', { DATA_DIR: dataDir }, file, '--force')
  expect([restored.code, restored.err]).toEqual([0, expect.any(String)])
  expect(await audited()).toContain('in order')

  await using gateway = await startGateway({ dataDir })
  await using sql = await openDatabase(dataDir)
  await waitUntilBooked(sql, total.answered)
  const books = await booksOf(dataDir)
  expect(books).toMatchObject({ events: total.answered, twice: 0 })
  // All four began with 10 USD, and nothing else was taken from them.
  expect(books.posted + books.cost).toBe(40_000_000_000n)
  expect(await load(gateway, customers, (answered) => answered >= 4)).toBeGreaterThanOrEqual(4)
  expect(await audited()).toContain('in order')
  console.info(`${total.answered} requests, ${inBackup} of them in the backup, all booked once`)
}, 120_000)

/** What is not of the processes that ran when it was written. */
const restless = /(node|credit_\w+|auth_\w+|audit|restored_backup|alert_round|kysely_migration)\.\d/

async function contentOf(environment: Record<string, string>, name: string) {
  const file = join(files, name)
  const { code, err } = await runCommand('backup', environment, file)
  if (code !== 0) throw new Error(err)
  const { checksums } = await verify(file)
  const same = Object.entries(checksums.files).filter(([path]) => path.startsWith('tables'))
  return { file, rows: checksums.rows, same: same.filter(([path]) => !restless.test(path)) }
}

test('L11: an embedded database moves to a separate PostgreSQL, to the last row', async () => {
  await using postgres = await startPostgres()
  const before = await contentOf({ DATA_DIR: dataDir }, 'here.tar.gz')
  const key = (await readFile(join(dataDir, 'encryption-key'), 'utf8')).trim()
  const own = { DATA_DIR: dataDir, DATABASE_URL: postgres.url, ENCRYPTION_KEY: key }
  const wrong = {
    ...own,
    ENCRYPTION_KEY: Buffer.from(files.padEnd(32).slice(-32)).toString('base64'),
  }
  const refused = await runCommand('restore', wrong, before.file)
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY is not')])
  // It was all undone: this one is not told that the database is not empty.
  const restored = await runCommand('restore', own, before.file)
  expect([restored.code, restored.err]).toEqual([0, ''])
  const after = await contentOf(own, 'there.tar.gz')
  expect(after.same).toEqual(before.same)
  expect(after.rows).toMatchObject({
    users: before.rows['users'],
    ledger_entry: before.rows['ledger_entry'],
  })
  expect(before.rows['usage_event']).toBeGreaterThan(100)

  await using gateway = await startGateway({ dataDir, environment: own })
  const customer = await gateway.customer({}, { credit: 1 })
  expect(await load(gateway, [customer], (answered) => answered >= 2)).toBe(2)
  const running = await runCommand('restore', own, before.file, '--force')
  expect([running.code, running.err]).toEqual([2, expect.stringContaining('in use by another')])
  const elsewhere = { ...own, DATA_DIR: join(files, 'elsewhere') }
  const connected = await runCommand('restore', elsewhere, before.file, '--force')
  expect([connected.code, connected.err]).toEqual([2, expect.stringContaining('Stop all of them')])
  expect((await runCommand('audit', own)).out).toContain('in order')
}, 120_000)
