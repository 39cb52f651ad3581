import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { startNodes, type Nodes } from '../../harness/nodes'
import { sendRaw, messages, type Answer } from '../../harness/http'

setDefaultTimeout(120_000)

let nodes: Nodes

beforeAll(async () => {
  nodes = await startNodes(1)
})
afterAll(() => nodes[Symbol.asyncDispose]())

const idOf = ({ headers }: Answer) => headers.get('x-request-id') ?? ''

async function rowsOf(userId: string, maxRows: number) {
  let rows: { id: string; status: string; error: { code: string } | null }[] = []
  await eventually(async () => {
    rows = await nodes.sql`
      select id, status, error from request_log where user_id = ${userId} order by id`
    return rows.length >= maxRows
  })
  return rows
}

test('no log of an answered request is lost with its node, and each exists once', async () => {
  const { chat, customer, model, restart, sql, wireOf } = nodes
  const account = await customer(1_000_000_000_000n)
  const first = nodes.at(0)
  await chat(first, account, { name: 'ok' })
  const running = await sendRaw(first, {
    key: account.key,
    body: { model: await model('stall-after'), messages, stream: true },
  })
  await running.until((received) => received.includes('data: '))
  // From here on nothing is booked: later rows come from the journal.
  wireOf(0).cut()
  const answers = []
  for (let count = 0; count < 10; count++) {
    answers.push(await chat(first, account, { name: 'ok', stream: count % 2 === 0 }))
  }
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(await first.stop('SIGKILL')).not.toBe(0)
  running.close()
  wireOf(0).mend()
  await restart(0)
  const rows = await rowsOf(account.userId, 12)
  const ids = rows.map(({ id }) => id)
  expect(ids).toHaveLength(12)
  for (const answer of answers) expect(ids).toContain(idOf(answer))
  // The request that ran when its process died: its outcome is unknown.
  const orphans = rows.filter(({ status }) => status === 'error')
  expect(orphans.map(({ error }) => error?.code)).toEqual(['internal_error'])
  const sumsOfDays = async () => {
    const [sums] = await sql`
      select sum(requests)::int as requests, sum(successes)::int as successes from request_sum
      where user_id = ${account.userId} and grain = 'day'`
    return sums
  }
  await eventually(async () => (await sumsOfDays()).requests >= 12)
  expect(await sumsOfDays()).toEqual({ requests: 12, successes: 11 })
})
