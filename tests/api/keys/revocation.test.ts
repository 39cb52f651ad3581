import type { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import type { Customer, Gateway } from '../../harness/server'
import { sendSoon } from '../../harness/soon'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let nodes: TwoNodes

beforeAll(async () => {
  nodes = await startTwoNodes()
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
})

async function statusOf({ url, recorder }: Gateway, key: string): Promise<number> {
  const response = await recorder.fetch(`${url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await response.text()
  return response.status
}

/** The longest time until a node answers with `status`. */
async function untilBoth(key: string, status: number): Promise<number> {
  const both = [nodes.a, nodes.b].map((node) =>
    eventually(async () => (await statusOf(node, key)) === status),
  )
  return Math.max(...(await Promise.all(both)))
}

interface Change {
  name: string
  status: number
  make: (node: Gateway, customer: Customer) => Promise<unknown>
}

const pathOf = ({ userId, keyId }: Customer) => `/users/${userId}/keys/${keyId}`

const changes: Change[] = [
  { name: 'deleted', status: 401, make: (node, it) => node.admin('DELETE', pathOf(it)) },
  {
    name: 'another secret',
    status: 401,
    make: ({ url, recorder }, { key, keyId }) =>
      recorder
        .fetch(`${url}/api/account/keys/${keyId}/rotate`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ overlap_seconds: 0 }),
        })
        .then((response) => response.json()),
  },
  {
    name: 'a pause',
    status: 401,
    make: (node, it) => node.admin('PUT', pathOf(it), { disabled: true }),
  },
  {
    name: 'its permission to read taken',
    status: 403,
    make: (node, it) => node.admin('PUT', pathOf(it), { permissions: ['write'] }),
  },
  {
    name: 'its account suspended',
    status: 401,
    make: (node, { userId }) =>
      node.admin('POST', `/users/${userId}/suspend`, { reason: 'revocation' }),
  },
  {
    name: 'its expiry moved to now',
    status: 401,
    make: (node, it) => sendSoon((expires_at) => node.admin('PUT', pathOf(it), { expires_at })),
  },
]

async function known(): Promise<Customer> {
  const customer = await nodes.a.customer({ permissions: ['admin'] })
  for (const node of [nodes.a, nodes.b]) {
    for (let count = 0; count < 3; count++) expect(await statusOf(node, customer.key)).toBe(200)
  }
  return customer
}

describe('A08: a key with', () => {
  test.each(changes)('$name is rejected on both nodes', async ({ name, status, make }) => {
    for (const node of [nodes.a, nodes.b, nodes.a, nodes.b]) {
      const customer = await known()
      await make(node, customer)
      const tookMs = await untilBoth(customer.key, status)
      recordFigure(`A08: a key with ${name}`, tookMs, { unit: 'ms', atMost: 1000 })
    }
  })
})

/** Reads that of each connection on which a node listens for notifications. */
const listening = (sql: SQL, expression: string): Promise<unknown[]> => sql`
  select ${sql.unsafe(expression)} from pg_stat_activity
  where datname = current_database() and (query like 'listen%'
    or (query = 'select 1' and application_name = 'tollgate' and state = 'idle'))`

test('A08 D13: a revocation while the listening connections are cut is not missed', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  for (const { name, make, status } of changes) {
    const customer = await known()
    // Those that were cut before come back by themselves.
    await eventually(async () => (await listening(sql, 'pid')).length >= 2)
    await listening(sql, 'pg_terminate_backend(pid)')
    await make(nodes.a, customer)
    const tookMs = await untilBoth(customer.key, status)
    recordFigure(`D13: ${name}`, tookMs, { unit: 'ms', atMost: 1000 })
  }
})

test('A08: also one made by hand in SQL', async () => {
  await using sql = await openDatabase(nodes.a.dataDir)
  const customer = await known()
  await sql`delete from api_key where id = ${customer.keyId}`
  const tookMs = await untilBoth(customer.key, 401)
  recordFigure('A08: a key deleted by hand', tookMs, { unit: 'ms', atMost: 1000 })
})

test('A08: a key made on one node works on the other at once', async () => {
  for (let count = 0; count < 20; count++) {
    const { key } = await nodes.a.customer()
    expect(await statusOf(nodes.b, key)).toBe(200)
  }
})
