import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, listIn, type Fixture } from './fixture'
import type { Json } from '../../harness/http'
import { internalUrl, scrape } from '../../harness/scrape'
import { ClickHouseStandIn } from '../../../server/testing/clickhouse-stand-in/stand-in'
import { eventually } from '../../../server/testing/eventually'

let clickHouse: ClickHouseStandIn
let fixture: Fixture
beforeAll(async () => {
  clickHouse = new ClickHouseStandIn()
  fixture = await createFixture({
    CLICKHOUSE_URL: clickHouse.url,
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
  })
})
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  clickHouse[Symbol.dispose]()
})

const requestIdOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? ''

/** An export follows its logs by some seconds, longer after a failure. */
const until = (what: () => boolean | Promise<boolean>) => eventually(what, 60_000)

const isExported = (id: string) => clickHouse.finalRows('request_log').has(id)

/** Has the logs of all days so far read from ClickHouse, as some days later. */
async function handOver(): Promise<void> {
  await fixture.sql`delete from request_log`
  await fixture.sql`update log_export set recent_since = now() + interval '1 second'`
}

test('a log is read at once, is exported within seconds, and is read from there afterwards', async () => {
  const answer = await fixture.chat('ok')
  const refused = await fixture.post({ model: 'no/such', messages: [] })
  const [id, refusedId] = [requestIdOf(answer), requestIdOf(refused)]
  const before = await fixture.detailsOf(answer)
  await until(() => isExported(id) && isExported(refusedId))
  await handOver()
  expect(await fixture.detailsOf(answer)).toEqual(before)
  const list = await fixture.read('?limit=10')
  expect(list.status).toBe(200)
  expect(listIn(list, 'logs').map((log) => log['id'])).toEqual([refusedId, id])
  const sums = await fixture.read('/stats')
  expect(sums.body).toMatchObject({ total_requests: 2, successful_requests: 1, failed_requests: 1 })
  await fixture.sql`update log_export set recent_since = null`
}, 90_000)

test('requests are served and booked while ClickHouse is down, and their logs follow', async () => {
  for (let at = 0; at < 2; at++) clickHouse.faults.push({ type: 'bad gateway' })
  const answers = await Promise.all(Array.from({ length: 5 }, () => fixture.chat('ok')))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  for (const answer of answers)
    expect(await fixture.logOf(answer)).toMatchObject({ status: 'success' })
  await until(() => answers.every((answer) => isExported(requestIdOf(answer))))
}, 90_000)

test('an export of an account has its logs from both stores, and its erasure deletes them in both', async () => {
  const { rig } = fixture
  const leaving = await rig.gateway.customer()
  const answer = await fixture.chat('ok', {}, leaving)
  const id = requestIdOf(answer)
  await until(() => isExported(id))
  await handOver()
  const { url, adminKey } = rig.gateway
  const path = `${url}/api/admin/users/${leaving.userId}/export`
  const exported = await fetch(path, { headers: { authorization: `Bearer ${adminKey}` } })
  const lines = (await exported.text()).trim().split('\n')
  const rows = lines.map((line): { table: string; row: Json } => JSON.parse(line))
  expect(rows.filter(({ table }) => table === 'request_log').map(({ row }) => row['id'])).toEqual([
    id,
  ])
  await rig.gateway.admin('DELETE', `/users/${leaving.userId}`)
  await until(() => !isExported(id))
  await fixture.sql`update log_export set recent_since = null`
}, 90_000)

test('the metrics count exported logs, and waiting ones', async () => {
  const url = await internalUrl(fixture.rig.gateway)
  const { sum } = await scrape(url)
  expect(sum('tollgate_log_export_total', { outcome: 'ok' })).toBeGreaterThan(7)
  expect(sum('tollgate_log_export_total', { outcome: 'rejected' })).toBe(0)
  expect(sum('tollgate_log_export_failures_total')).toBe(2)
  expect(sum('tollgate_log_export_waiting')).toBeLessThan(10)
})
