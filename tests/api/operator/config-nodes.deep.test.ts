import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let nodes: TwoNodes
let customer: Customer

beforeAll(async () => {
  nodes = await startTwoNodes()
  customer = await nodes.a.customer()
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
})

/** What a node does, not what it says: it may read the database to say it. */
async function isOpen(node: Gateway): Promise<boolean> {
  const body = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello!' }] }
  const { status } = await sendRequest(node, { key: customer.key, body })
  return status === 200
}

/** Milliseconds until both nodes do so. */
const untilBoth = (open: boolean) =>
  eventually(async () => (await isOpen(nodes.a)) === open && (await isOpen(nodes.b)) === open)

test('a change holds on the other node soon', async () => {
  await untilBoth(true)
  const times: number[] = []
  for (let round = 0; round < 6; round++) {
    const open = round % 2 === 1
    await (round % 3 ? nodes.a : nodes.b).admin('PUT', '/config', { platform_connections: open })
    times.push(await untilBoth(open))
  }
  recordFigure('settings of the other node', Math.max(...times), { unit: 'ms', atMost: 1000 })
})

test('also where no notification comes', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  await sql`alter table config disable trigger config_changed`
  for (const open of [false, true]) {
    await nodes.a.admin('PUT', '/config', { platform_connections: open })
    const tookMs = await untilBoth(open)
    recordFigure(`settings without a notification: ${open}`, tookMs, { unit: 'ms', atMost: 5000 })
  }
  await sql`alter table config enable trigger config_changed`
})

test('two changes at once both hold', async () => {
  const { a, b } = nodes
  await Promise.all([
    a.admin('PUT', '/config', { timers: { idle_seconds: 11 }, retention_days: 12 }),
    b.admin('PUT', '/config', { timers: { stream_seconds: 13 }, warning_threshold: 14 }),
  ])
  expect(await a.admin('GET', '/config')).toMatchObject({
    timers: { idle_seconds: 11, stream_seconds: 13 },
    retention_days: 12,
    warning_threshold: 14,
  })
})
