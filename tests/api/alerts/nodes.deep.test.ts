import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer, type MailServer } from './mail-server'
import { waitFor } from './fixture'
import { call, idIn } from '../../harness/byok'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'

let mails: MailServer
let nodes: TwoNodes

beforeAll(async () => {
  mails = await startMailServer()
  nodes = await startTwoNodes({
    environment: {
      SMTP_URL: mails.url,
      MAIL_FROM: 'tollgate@gate.example',
      MAIL_SECONDS: '0.1',
      ALERT_SECONDS: '0.1',
    },
  })
})
afterAll(async () => {
  await nodes[Symbol.asyncDispose]()
  await mails[Symbol.asyncDispose]()
})

test('J01: two nodes, one of them killed, make one trigger and one notice of each alert', async () => {
  const { a, b } = nodes
  const count = 30
  const customer = await a.customer()
  await using sql = await openDatabase(a.dataDir)
  const ids: string[] = []
  for (let turn = 0; turn < count; turn++) {
    const fields = { name: `Cost ${turn}`, type: 'cost_threshold', threshold: 1 }
    ids.push(idIn(await call(a, customer, 'POST /account/alerts', fields)))
  }
  await sql`
    insert into request_sum select grain, date_trunc(grain, now(), 'UTC'), ${customer.userId}, 'key',
      'm/m', 1, 1, 0, 0, 1, 1, 5, 2000000000, 2000000000, 1
    from unnest(array['hour', 'day']) as grain`
  const triggers = async () => {
    const [row] = await sql`select count(*)::int as triggers from alert_trigger`
    return Number(row.triggers)
  }
  await waitFor(async () => ((await triggers()) > 0 ? true : undefined))
  await b.stop('SIGKILL')
  await waitFor(async () => ((await triggers()) >= count ? true : undefined))
  await waitFor(async () => {
    const [row] = await sql`select count(*)::int as waiting from mail where sent_at is null`
    // What the killed node had taken is sent a minute later; the test does not wait for it.
    await sql`update mail set next_attempt_at = now() where sent_at is null and attempts = 1`
    return row.waiting === 0 ? true : undefined
  })
  const rows = await sql`
    select alert.id, trigger_count,
      (select count(*)::int from alert_trigger where alert_id = alert.id) as triggers,
      (select count(*)::int from notification where alert_id = alert.id) as notices
    from alert order by alert.id`
  expect([...rows]).toEqual(ids.map((id) => ({ id, trigger_count: 1, triggers: 1, notices: 1 })))
  const subjects = mails.arrived.map(({ text }) => /^Subject: (.*)\r$/m.exec(text)?.[1])
  expect(new Set(subjects).size).toBe(count)
  // What the killed node was sending may go out again, with the id that it had.
  const messageIds = mails.arrived.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1])
  expect(new Set(messageIds).size).toBe(count)
})
