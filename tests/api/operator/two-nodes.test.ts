import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
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

async function statusOf({ url, recorder }: Gateway, model: string): Promise<number> {
  const response = await recorder.fetch(`${url}/v1/models/${model}`, {
    headers: { authorization: `Bearer ${customer.key}` },
  })
  await response.text()
  return response.status
}

const latencies: number[] = []

async function expectSoon(node: Gateway, model: string, status: number): Promise<void> {
  latencies.push(await eventually(async () => (await statusOf(node, model)) === status))
}

/** One change after the other, each at once here and soon there. */
async function expectChanges(here: Gateway, there: Gateway, key: string): Promise<void> {
  const id = `${key}/model`
  await here.admin('POST', '/providers', { key, name: key, adapter: 'openai', keyless: true })
  await here.admin('POST', '/models', { id, name: key, category: 'chat', is_free: true })
  expect(await statusOf(here, id)).toBe(200)
  await expectSoon(there, id, 200)
  await there.admin('PUT', `/models/${id}`, { enabled: false })
  expect(await statusOf(there, id)).toBe(404)
  await expectSoon(here, id, 404)
  await here.admin('PUT', `/models/${id}`, { enabled: true })
  await expectSoon(there, id, 200)
  await there.admin('DELETE', `/models/${id}`)
  expect(await statusOf(there, id)).toBe(404)
  await expectSoon(here, id, 404)
}

test('a change holds at once on the node that answered, soon on the other', async () => {
  for (let round = 0; round < 5; round++) {
    await expectChanges(nodes.a, nodes.b, `a-to-b-${round}`)
    await expectChanges(nodes.b, nodes.a, `b-to-a-${round}`)
  }
  recordFigure('the catalogue of the other node', Math.max(...latencies.splice(0)), {
    unit: 'ms',
    atMost: 1000,
  })
})

test('D13: also when the listening connections were cut just before', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  for (let round = 0; round < 3; round++) {
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and (query like 'listen%'
          or (query = 'select 1' and application_name = 'tollgate' and state = 'idle'))`
    await expectChanges(nodes.a, nodes.b, `cut-${round}`)
  }
})

test('a row that is damaged is left out, the others stay', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  const { a, b } = nodes
  await a.admin('POST', '/providers', {
    key: 'well',
    name: 'Well',
    adapter: 'openai',
    keyless: true,
  })
  for (const name of ['sound', 'broken']) {
    const id = `well/${name}`
    await a.admin('POST', '/models', { id, name, category: 'chat', is_free: true })
  }
  await expectSoon(b, 'well/broken', 200)
  await sql`update model set capabilities = '"none"' where id = 'well/broken'`
  for (const node of [a, b]) {
    await expectSoon(node, 'well/broken', 404)
    expect(await statusOf(node, 'well/sound')).toBe(200)
  }
})
