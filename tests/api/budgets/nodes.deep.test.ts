import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, idIn } from '../../harness/byok'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'

let nodes: TwoNodes

beforeAll(async () => {
  nodes = await startTwoNodes({ environment: { ALERT_SECONDS: '0.1' } })
})
afterAll(() => nodes[Symbol.asyncDispose]())

test('two nodes, one of them killed, notify once of each budget', async () => {
  const { a, b } = nodes
  const count = 30
  const owner = await a.customer({ permissions: ['read', 'write', 'admin'] })
  await using sql = await openDatabase(a.dataDir)
  const fields = { unit: 'requests', amount: 5, window: 'total', enforcement: 'soft' }
  const names = Array.from({ length: count }, (_, index) => `Budget ${index}`)
  for (const name of names) {
    const budget = { ...fields, name, notify_percents: [80, 100] }
    idIn(await call(a, owner, 'POST /account/budgets', budget))
  }
  await sql`
    insert into usage_sum
    select grain, date_trunc(grain, now(), 'UTC'), ${owner.userId}, ${owner.userId}, 'key', 'm/m',
      5, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0
    from unnest(array['minute', 'hour', 'day']) as grain`
  const read = async () =>
    (await sql`select title from notification where user_id = ${owner.userId}`).map(
      ({ title }: { title: string }) => title,
    )
  await eventually(async () => (await read()).length > 0)
  await b.stop('SIGKILL')
  await eventually(async () => (await read()).length >= count)
  // A round that came later found nothing more.
  const [{ ran_at: before }] = await sql`select ran_at from alert_round`
  await eventually(async () => {
    const [row] = await sql`select ran_at > ${before} as "isLater" from alert_round`
    return row.isLater === true
  })
  const expected = names.map((name) => `Budget at 100%: ${name}`)
  expect((await read()).toSorted()).toEqual(expected.toSorted())
})
