import { afterAll, beforeAll, expect, test } from 'bun:test'
import { bodyOf } from './hostile-bodies'
import { reportAttack } from './report'
import { openDatabase } from '../../harness/database'
import { sendRequest } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

const megabyte = 1024 * 1024
const bound = 128

let rig: Rig
beforeAll(async () => {
  rig = await startRig()
  await rig.gateway.admin('PUT', '/config', { stored_megabytes_per_account: bound })
}, 60_000)
afterAll(() => rig?.[Symbol.asyncDispose]())

const item = { role: 'user', content: 'x'.repeat(7 * megabyte) }

/** Each sends one more that is stored; `count` of them are more than an account may have. */
const fillers: Readonly<Record<string, (key: string, at: number) => Promise<number>>> = {
  'background responses with an image of 22 MB': (key) => send(key, bodyOf('background:22')),
  'background responses with an image of 7 MB': (key) => send(key, bodyOf('background:7')),
  'conversations with an item of 7 MB': (key) =>
    send(key, Buffer.from(JSON.stringify({ items: [item] })), { path: '/v1/conversations' }),
  'answers for repeats of 7 MB': (key, at) =>
    send(key, Buffer.from(JSON.stringify({ ...echo, n: 8 })), {
      path: '/v1/chat/completions',
      headers: { 'idempotency-key': `fill-${at}` },
    }),
}

const echo = {
  model: 'sandbox/echo',
  messages: [{ role: 'user', content: 'word '.repeat(90_000) }],
}
const count = 24

async function send(
  key: string,
  body: Buffer,
  {
    path = '/v1/responses',
    headers = {},
  }: { path?: string; headers?: Record<string, string> } = {},
): Promise<number> {
  const answer = await sendRequest(rig.gateway, { key, path, headers, body: body.toString() })
  return answer.status
}

async function storedBytes({ userId }: Customer): Promise<{ sum: number; wrong: number }> {
  await using sql = await openDatabase(rig.gateway.dataDir)
  const [row] = await sql`
    select (responses + running + conversations + answers + bodies + texts)::float8 as sum
    from account_storage where user_id = ${userId}`
  const [{ wrong }] = await sql`select recount_stored(${userId})::float8 as wrong`
  return { sum: Number(row?.sum ?? 0), wrong: Number(wrong) }
}

test.each(Object.entries(fillers))(
  'finding S22: %s fill at most the disk space of an account',
  async (what, fill) => {
    const customer = await rig.gateway.customer({}, { credit: 0 })
    const statuses: number[] = []
    for (let at = 0; at < count; at++) statuses.push(await fill(customer.key, at))
    const { sum, wrong } = await storedBytes(customer)
    // A node that makes as many answers in the background as it can is busy.
    const failed = statuses.filter((status) => status >= 500 && status !== 503)
    const isHeld = sum <= bound * megabyte && failed.length === 0
    reportAttack({
      attack: `Filling the disk: ${what}`,
      cost: `${count} requests of an account without credit`,
      effect: `${(sum / 1e6).toFixed(0)} MB are stored, of ${bound} that an account may have`,
      isHeld,
    })
    expect(sum).toBeLessThanOrEqual(bound * megabyte)
    expect(wrong).toBe(0)
    expect(failed).toEqual([])
  },
  120_000,
)
