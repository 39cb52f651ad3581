import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { call } from '../../harness/byok'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { messages, sendRequest, type Answer, type Json } from '../../harness/http'
import { nanosOf } from '../../harness/ledger'
import type { Customer, Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import { eventually } from '../../../server/testing/eventually'

let nodes: TwoNodes
let upstream: FakeProvider
let sql: SQL

/** USD per million tokens: with 256 tokens the smallest hold is above half a cent. */
const prices = { 'held-256': 30, 'chunks-256': 4, ok: 4, held: 4, 'status-400': 4 }

beforeAll(async () => {
  await untilDayLasts()
  upstream = await startFakeProvider()
  nodes = await startTwoNodes({ environment: { MINIMUM_BALANCE_USD: '0' } })
  const { a } = nodes
  const base_url = upstream.url
  await a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai', base_url })
  await a.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'secret-1' })
  for (const [name, output] of Object.entries(prices)) {
    await a.admin('POST', '/models', {
      id: `fake/${name}`,
      name,
      category: 'chat',
      max_output_tokens: 4096,
      pricing: { input: 1, output },
    })
  }
  sql = await openDatabase(a.dataDir)
}, 30_000 + dayWaitMs)
afterAll(async () => {
  for (const { recorder } of [nodes.a, nodes.b]) recorder.verify()
  await sql.close()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const nodeOf = (number: number): Gateway => (number % 2 === 0 ? nodes.a : nodes.b)

const newOwner = () => nodes.a.customer({ permissions: ['read', 'write', 'admin'] })

/** Creates a budget before the second node knows the key. */
async function newBudget(owner: Customer, fields: Json): Promise<string> {
  const budget = { name: 'Daily', window: 'day', ...fields }
  const { status, text, body } = await call(nodes.a, owner, 'POST /account/budgets', budget)
  if (status !== 201) throw new Error(text)
  return String(body['id'])
}

interface Chat {
  name: keyof typeof prices
  [field: string]: unknown
}

const chat = (node: Gateway, { key }: Customer, { name, signal, ...fields }: Chat) =>
  sendRequest(node, {
    key,
    body: { model: `fake/${name}`, messages, max_tokens: 256, ...fields },
    ...(signal instanceof AbortSignal && { signal }),
  })

const readUsed = async (owner: Customer, id: string) => {
  const { body } = await call(nodes.a, owner, `GET /account/budgets/${id}`)
  return nanosOf(body['used'])
}

async function chargesOf({ userId }: Customer): Promise<bigint> {
  const [row] = await sql`
    select coalesce(sum(cost - written_off), 0)::bigint as total from usage_event
    where user_id = ${userId}`
  return BigInt(row.total)
}

test('of five requests at once on two nodes exactly one runs where a budget covers one hold', async () => {
  const owner = await newOwner()
  await newBudget(owner, { amount: 0.01 })
  const refused: Answer[] = []
  const requests = Array.from({ length: 5 }, async (_, number) => {
    const answer = await chat(nodeOf(number), owner, { name: 'held-256', stream: true })
    if (answer.status !== 200) refused.push(answer)
    return answer.status
  })
  await eventually(() => refused.length === 4)
  for (const { status, error } of refused)
    expect([status, error.code]).toEqual([402, 'insufficient_credits'])
  await upstream.releaseHeld(1)
  const statuses = await Promise.all(requests)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
})

test('of many small requests exactly the charges count, and the rest can be spent to the last request on two nodes', async () => {
  const owner = await newOwner()
  const amount = 0.05
  const id = await newBudget(owner, { amount })
  const outcomes = ['served', 'cancelled', 'refused upstream'] as const
  const send = async (number: number): Promise<void> => {
    const node = nodeOf(Math.floor(number / outcomes.length))
    const outcome = outcomes[number % outcomes.length]
    if (outcome === 'served') await chat(node, owner, { name: 'ok' })
    else if (outcome === 'refused upstream') await chat(node, owner, { name: 'status-400' })
    else await cancel(node)
  }
  const cancel = async (node: Gateway): Promise<void> => {
    const client = new AbortController()
    const { signal } = client
    const running = chat(node, owner, { name: 'held', stream: true, signal })
    const before = upstream.requestCount()
    await eventually(() => upstream.requestCount() > before || upstream.heldCount() > 0)
    client.abort()
    await running.catch(() => undefined)
    upstream.release()
  }
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 6 }, (_, number) => send(round * 6 + number)))
  const limit = nanosOf(amount)
  // The rest, on both nodes at once: each is refused only where less than its smallest hold is left.
  const spendAll = async (node: Gateway): Promise<Answer> => {
    for (let count = 0; count < 200; count++) {
      const answer = await chat(node, owner, { name: 'chunks-256' })
      if (answer.status !== 200) return answer
    }
    throw new Error('no request was refused')
  }
  await Promise.all([spendAll(nodes.a), spendAll(nodes.b)])
  // What one held when the other was refused may have come back.
  const last = [await spendAll(nodes.a), await spendAll(nodes.b), await spendAll(nodes.a)]
  for (const { status, error } of last) {
    expect([status, error.code]).toEqual([402, 'insufficient_credits'])
  }
  await eventually(async () => {
    const used = await readUsed(owner, id)
    const left = await Promise.all(
      [nodes.a, nodes.b].map(async (node) => {
        const { error } = await chat(node, owner, { name: 'chunks-256' })
        return nanosOf(error.details?.['current_balance'])
      }),
    )
    return left.every((one) => one + used === limit) && used === (await chargesOf(owner))
  })
  const required = nanosOf(last.at(-1)?.error.details?.['minimum_required'])
  expect(limit - (await readUsed(owner, id))).toBeLessThan(required)
  expect(await readUsed(owner, id)).toBeLessThanOrEqual(limit)
}, 60_000)

test('of requests at once on two nodes as many run as a budget allows', async () => {
  const owner = await newOwner()
  await newBudget(owner, { unit: 'requests', amount: 20 })
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, number) => {
      const { status } = await chat(nodeOf(number), owner, { name: 'ok' })
      return status
    }),
  )
  const servedAtOnce = statuses.filter((status) => status === 200).length
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  expect(servedAtOnce).toBe(20)
  for (const node of [nodes.a, nodes.b])
    expect((await chat(node, owner, { name: 'ok' })).status).toBe(429)
})

const tagged = { 'x-tollgate-tags': 'batch' }

test('of requests at once on two nodes as many run as a budget in tokens of a model covers', async () => {
  const owner = await newOwner()
  const fields = { unit: 'tokens', models: ['fake/held-256'] }
  const probe = await newOwner()
  await newBudget(probe, { ...fields, amount: 0 })
  const none = await chat(nodes.a, probe, { name: 'held-256', stream: true })
  const required = Number(/requires (\d+)\./.exec(none.error.message ?? '')?.[1])
  await newBudget(owner, { ...fields, amount: 2 * required + 1 })
  let refused = 0
  const requests = Array.from({ length: 8 }, async (_, number) => {
    const { status } = await chat(nodeOf(number), owner, { name: 'held-256', stream: true })
    if (status !== 200) refused += 1
    return status
  })
  await eventually(() => refused === 6)
  // Another model is none of its business.
  expect((await chat(nodes.b, owner, { name: 'ok' })).status).toBe(200)
  await upstream.releaseHeld(2)
  const statuses = await Promise.all(requests)
  expect(statuses.filter((status) => status === 200)).toHaveLength(2)
})

test('requests with a tag on two nodes use exactly their charges of its budget, to the last', async () => {
  const owner = await newOwner()
  const amount = 0.02
  const id = await newBudget(owner, { amount, tags: ['batch'] })
  const spend = async (node: Gateway, headers?: Record<string, string>) =>
    sendRequest(node, {
      key: owner.key,
      ...(headers && { headers }),
      body: { model: 'fake/chunks-256', messages, max_tokens: 256 },
    })
  const spendAll = async (node: Gateway): Promise<bigint> => {
    for (let spent = 0n; ;) {
      const answer = await spend(node, tagged)
      if (answer.status !== 200) return spent
      spent += nanosOf(answer.headers.get('x-tollgate-cost'))
      await spend(node)
    }
  }
  const spent = await Promise.all([spendAll(nodes.a), spendAll(nodes.b), spendAll(nodes.a)])
  const last = [await spendAll(nodes.b), await spendAll(nodes.a)]
  const total = [...spent, ...last].reduce((sum, one) => sum + one, 0n)
  await eventually(async () => (await readUsed(owner, id)) === total)
  const { error } = await spend(nodes.b, tagged)
  expect(nanosOf(error.details?.['current_balance'])).toBe(nanosOf(amount) - total)
  expect(nanosOf(amount) - total).toBeLessThan(nanosOf(error.details?.['minimum_required']))
}, 60_000)

test('of requests at once on two nodes as many run as the override of a budget allows', async () => {
  const owner = await newOwner()
  const id = await newBudget(owner, { unit: 'requests', amount: 4 })
  const override = { amount: 9, until: new Date(Date.now() + 3_600_000).toISOString() }
  await call(nodes.a, owner, `PATCH /account/budgets/${id}`, { override })
  const sendAll = async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => chat(nodeOf(number), owner, { name: 'ok' })),
    )
    return answers.filter(({ status }) => status === 200).length
  }
  expect(await sendAll()).toBe(9)
  await call(nodes.a, owner, `PATCH /account/budgets/${id}`, { override: null })
  expect(await sendAll()).toBe(0)
})
