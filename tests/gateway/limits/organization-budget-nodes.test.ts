import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../../harness/byok'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { messages, sendRequest, type Answer, type Json } from '../../harness/http'
import { nanosOf } from '../../harness/ledger'
import { sendOperatorRequest } from '../../harness/operator'
import { newOrganization, type Organization } from '../../harness/organization'
import type { Customer, Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import { eventually } from '../../../server/testing/eventually'

let nodes: TwoNodes
let upstream: FakeProvider

/** USD per million tokens: with 256 tokens the smallest hold is above half a cent. */
const prices = { 'held-256': 30, 'chunks-256': 4, ok: 4 }

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
}, 30_000 + dayWaitMs)
afterAll(async () => {
  for (const { recorder } of [nodes.a, nodes.b]) recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const nodeOf = (number: number): Gateway => (number % 2 === 0 ? nodes.a : nodes.b)

/** An organization that pays the requests of two members. */
async function newPayer() {
  const { a: gateway } = nodes
  const newCustomer = () => gateway.customer({ permissions: ['read', 'write', 'admin'] })
  const organization = await newOrganization({ gateway, newCustomer })
  await using sql = await openDatabase(gateway.dataDir)
  await sql`
    update organization set plan_id = (select id from plan where name = 'roomy'),
      requests_per_minute = 1000000, tokens_per_minute = 1000000000, max_concurrent_requests = 1000
    where id = ${organization.id}`
  const grant = { organization_id: organization.id, amount: 10, reason: 'For the test.' }
  await sendOperatorRequest(gateway, 'POST /credits/grant', grant)
  const fund = async () => {
    const member = await organization.member()
    const settings = { funding_source: 'organization', funding_organization_id: organization.id }
    const { status, text } = await call(gateway, member, 'PUT /account/settings', settings)
    if (status !== 200) throw new Error(text)
    return member
  }
  return { organization, members: [await fund(), await fund()] as const }
}

/** Creates a budget before the second node knows the organization. */
async function newBudget({ owner, path }: Organization, fields: Json): Promise<string> {
  const budget = { name: 'Daily', window: 'day', ...fields }
  const { status, text, body } = await call(nodes.a, owner, `POST ${path}/budgets`, budget)
  if (status !== 201) throw new Error(text)
  return String(body['id'])
}

const chat = (node: Gateway, { key }: Customer, name: keyof typeof prices) =>
  sendRequest(node, {
    key,
    body: { model: `fake/${name}`, messages, max_tokens: 256, stream: name === 'held-256' },
  })

const servedOf = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length

/** Sends many requests at once, to both nodes. */
const sendAll = (by: Customer) =>
  Promise.all(
    Array.from({ length: 30 }, async (_, number) => {
      const { status } = await chat(nodeOf(number), by, 'ok')
      return status
    }),
  )

const refusal = ({ status, error }: Answer) => [status, error.code]

test('of five requests of two members at once on two nodes exactly one runs where a budget covers one hold', async () => {
  const { organization, members } = await newPayer()
  await newBudget(organization, { amount: 0.01 })
  const refused: Answer[] = []
  const requests = Array.from({ length: 5 }, async (_, number) => {
    const by = members[number > 2 ? 1 : 0]
    const answer = await chat(nodeOf(number), by, 'held-256')
    if (answer.status !== 200) refused.push(answer)
    return answer.status
  })
  await eventually(() => refused.length === 4)
  for (const answer of refused) expect(refusal(answer)).toEqual([402, 'insufficient_credits'])
  await upstream.releaseHeld(1)
  const statuses = await Promise.all(requests)
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
})

test('of requests of all members at once on two nodes as many run as the budgets allow', async () => {
  const { organization, members } = await newPayer()
  await newBudget(organization, { unit: 'requests', amount: 20 })
  const [member] = members
  await newBudget(organization, { unit: 'requests', amount: 8, member_id: member.userId })
  const [own, others] = await Promise.all(members.map(sendAll))
  const servedOwn = servedOf(own ?? [])
  expect(servedOwn).toBeLessThanOrEqual(8)
  expect(servedOwn + servedOf(others ?? [])).toBe(20)
  for (const node of [nodes.a, nodes.b])
    for (const by of members) expect((await chat(node, by, 'ok')).status).toBe(429)
})

test('requests of two members on two nodes use exactly their charges of a budget, to the last', async () => {
  const { organization, members } = await newPayer()
  const amount = 0.02
  const id = await newBudget(organization, { amount })
  const spendAll = async (node: Gateway, by: Customer): Promise<bigint> => {
    for (let spent = 0n; ;) {
      const answer = await chat(node, by, 'chunks-256')
      if (answer.status !== 200) return spent
      spent += nanosOf(answer.headers.get('x-tollgate-cost'))
    }
  }
  const [one, other] = members
  const spent = await Promise.all([spendAll(nodes.a, one), spendAll(nodes.b, other)])
  // What one held when the other was refused may have come back.
  const last = [await spendAll(nodes.b, one), await spendAll(nodes.a, other)]
  const total = [...spent, ...last].reduce((sum, part) => sum + part, 0n)
  const { owner, path } = organization
  await eventually(async () => {
    const { body } = await call(nodes.a, owner, `GET ${path}/budgets/${id}`)
    return nanosOf(body['used']) === total
  })
  const { error } = await chat(nodes.b, one, 'chunks-256')
  expect(nanosOf(error.details?.['current_balance'])).toBe(nanosOf(amount) - total)
  expect(nanosOf(amount) - total).toBeLessThan(nanosOf(error.details?.['minimum_required']))
}, 60_000)
