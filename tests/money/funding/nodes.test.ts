import { afterAll, beforeAll, expect, test } from 'bun:test'
import { raiseApiRate, waitForValue } from './fixture'
import {
  allowLoopback,
  call,
  idIn,
  createCustomer,
  upstreamEnvironment,
  startUpstream,
  type Upstream,
} from '../../harness/byok'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { sendOperatorRequest as operate } from '../../harness/operator'
import type { Customer, Gateway } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

/** What an organization pays and limits holds on every node. */

let nodes: TwoNodes
let upstream: Upstream

const price = 0.003005

beforeAll(async () => {
  await untilDayLasts()
  upstream = startUpstream()
  nodes = await startTwoNodes({ environment: upstreamEnvironment(upstream) })
  const { a } = nodes
  await allowLoopback(a)
  await raiseApiRate(a)
  const provider = { key: 'fake', name: 'Fake', adapter: 'openai', base_url: upstream.url }
  await a.admin('POST', '/providers', provider)
  await a.admin('POST', '/connections', { name: 'f', provider: 'fake', api_key: 'sk-platform' })
  const pricing = { input: 1, output: 1000 }
  await a.admin('POST', '/models', { id: 'fake/one', name: 'One', category: 'chat', pricing })
}, 60_000 + dayWaitMs)
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const statusOf = async (node: Gateway, { key }: Customer) => {
  const body = { model: 'fake/one', messages, max_tokens: 3 }
  return (await sendRequest(node, { key, body })).status
}

interface Company {
  owner: Customer
  member: Customer
  id: string
  path: string
  at: string
}

async function company(): Promise<Company> {
  const { a } = nodes
  const [owner, member] = [await createCustomer(a), await createCustomer(a)]
  const id = idIn(await call(a, owner, 'POST /organizations', { name: 'Company', is_public: true }))
  const path = `/organizations/${id}`
  const at = `${path}/members/${member.userId}`
  await call(a, member, `POST ${path}/join`, {})
  await call(a, owner, `PUT ${at}`, { status: 'active' })
  return { owner, member, id, path, at }
}

const fund = (node: Gateway, member: Customer, id: string) =>
  call(node, member, 'PUT /account/settings', {
    funding_source: 'organization',
    funding_organization_id: id,
  })

const nanos = (dollars: number) => Math.round(dollars * 1e9)

test('A08: a changed payer, and the end of a membership, apply on all nodes', async () => {
  const { a, b } = nodes
  const { owner, member, id, at } = await company()
  const reason = 'For the test.'
  await operate(a, 'POST /credits/grant', { organization_id: id, amount: 1, reason })
  // Both nodes know him, without credit.
  expect(await statusOf(a, member)).toBe(402)
  // Once node B has heard of the model.
  await waitForValue(() => statusOf(b, member), 402)
  expect((await fund(a, member, id)).status).toBe(200)
  expect(await statusOf(a, member)).toBe(200)
  await waitForValue(() => statusOf(b, member), 200)
  await call(b, owner, `PUT ${at}`, { status: 'suspended' })
  expect(await statusOf(b, member)).toBe(402)
  await waitForValue(() => statusOf(a, member), 402)
})

test('3.1: the other node sees one node’s spending of a member’s limit, and both see a new limit', async () => {
  const { a, b } = nodes
  const { owner, member, id, path, at } = await company()
  const reason = 'For the test.'
  await operate(a, 'POST /credits/grant', { organization_id: id, amount: 1, reason })
  await fund(a, member, id)
  await waitForValue(() => statusOf(b, member), 200)
  await call(b, owner, `PUT ${at}`, { spending_limit: 0.01 })
  await waitForValue(async () => {
    expect(await statusOf(a, member)).toBeOneOf([200, 402])
    return statusOf(a, member)
  }, 402)
  await waitForValue(() => statusOf(b, member), 402)
  await call(a, owner, `PUT ${at}`, { spending_limit: null })
  await waitForValue(() => statusOf(b, member), 200)
  // Both read the same of it, once all is booked; before anything is, that is nothing.
  const spent = async (node: Gateway) => {
    const { body } = await call(node, member, `GET ${path}/members`)
    const members = Array.isArray(body['members']) ? body['members'] : []
    return nanos(members.find((one) => one.user_id === member.userId)?.spent_this_month)
  }
  const pool = async () =>
    nanos(Number((await call(a, owner, `GET ${path}`)).body['credit_balance']))
  await waitForValue(async () => {
    const [ofA, ofB] = [await spent(a), await spent(b)]
    return ofA > 0 && ofA === ofB && (await pool()) + ofA === nanos(1)
  }, true)
  expect((await spent(a)) % nanos(price)).toBe(0)
})
