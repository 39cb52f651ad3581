import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Agent } from '../../harness/tunnel-agent'
import {
  waitForValue,
  createGatewayFixture,
  type GatewayFixture,
  type CreatedGateway,
} from './fixture'
import { newOrganization } from '../../harness/organization'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** Request logs of one gateway. */

let fixture: GatewayFixture
let owner: Customer
let first: { made: CreatedGateway; agent: Agent }
let second: { made: CreatedGateway; agent: Agent }

beforeAll(async () => {
  fixture = await createGatewayFixture()
  owner = await fixture.newCustomer()
  first = await begun('First')
  second = await begun('Second')
  // Both serve the same models, so that one is asked after the other.
  await prefer(first.made, 1)
  await prefer(second.made, 2)
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => {
  fixture.gateway.recorder.verify()
  for (const { agent } of [first, second]) agent.answer = (request) => agent.whole(request)
})

async function begun(name: string) {
  const made = await fixture.createGateway(owner, { name })
  return { made, agent: await fixture.agent(made).ready() }
}

async function prefer({ id }: CreatedGateway, priority: number): Promise<void> {
  const { body } = await fixture.api(owner, 'GET /connections?gateway_type=3')
  const connections: Json[] = Array.isArray(body['connections']) ? body['connections'] : []
  const own = connections.find((one) => one['gateway_id'] === id)
  await fixture.api(owner, `PUT /connections/${String(own?.['id'])}`, { priority })
}

/** Asks, and resolves with the id of the request once its log is there. */
async function loggedRequest(by: Customer): Promise<string> {
  const { headers } = await fixture.chat(by)
  const id = headers.get('x-request-id') ?? ''
  const look = async () => (await fixture.api(by, `GET /account/request-logs/${id}`)).status
  await waitForValue(look, 200)
  return id
}

/** Ids of the logs of a gateway, newest first. */
async function logsOf(id: string, by = owner, more = ''): Promise<unknown[]> {
  const path = `GET /account/request-logs?gateway_id=${encodeURIComponent(id)}${more}`
  const { status, body } = await fixture.api(by, path)
  expect(status).toBe(200)
  const logs: Json[] = Array.isArray(body['logs']) ? body['logs'] : []
  expect(Object(body['pagination']).total).toBe(logs.length)
  return logs.map((log) => log['id'])
}

const statsOf = async (id: string, by = owner) =>
  (await fixture.api(by, `GET /account/request-logs/stats?gateway_id=${id}`)).body

test('are the served requests, and the requests that failed over to others', async () => {
  const served = await loggedRequest(owner)
  expect(await logsOf(first.made.id)).toEqual([served])
  expect(await logsOf(second.made.id)).toEqual([])
  expect(await statsOf(second.made.id)).toMatchObject({ total_requests: 0, by_error: [] })

  first.agent.answer = (request) => first.agent.fail(request, 'connection_failed', false)
  const passedOn = await loggedRequest(owner)
  expect(second.agent.seen('request')).toHaveLength(1)
  expect(await logsOf(first.made.id)).toEqual([passedOn, served])
  expect(await logsOf(second.made.id)).toEqual([passedOn])

  second.agent.answer = (request) => second.agent.fail(request, 'connection_failed', false)
  const failed = await loggedRequest(owner)
  expect(await logsOf(first.made.id)).toEqual([failed, passedOn, served])
  expect(await logsOf(second.made.id)).toEqual([failed, passedOn])
  const figures = {
    total_requests: 3,
    failed_requests: 1,
    by_model: [{ model: 'fake/mine', requests: 3 }],
    by_error: [{ code: 'connection_failed', count: 1 }],
  }
  expect(await statsOf(first.made.id)).toMatchObject(figures)
  expect(await statsOf(second.made.id)).toMatchObject({
    ...figures,
    total_requests: 2,
    by_model: [{ requests: 2 }],
  })
})

/** So many hours from now. */
const hour = (hours: number) =>
  encodeURIComponent(new Date(Date.now() + hours * 3_600_000).toISOString())

test('go with the other filters, and with a period', async () => {
  const { id } = first.made
  const all = await logsOf(id)
  expect(all.length).toBeGreaterThan(0)
  expect(await logsOf(id, owner, `&start_date=${hour(-1)}&end_date=${hour(1)}`)).toEqual(all)
  expect(await logsOf(id, owner, `&end_date=${hour(-1)}`)).toEqual([])
  expect(await logsOf(id, owner, `&start_date=${hour(1)}`)).toEqual([])
  expect(await logsOf(id, owner, '&model=fake/one')).toEqual([])
  const path = `GET /account/request-logs?gateway_id=${id}`
  const { body } = await fixture.api(owner, `${path}&limit=1`)
  const cursor = String(Object(body['pagination']).next_cursor)
  expect((await fixture.api(owner, `${path}&limit=1&cursor=${cursor}`)).status).toBe(200)
  const elsewhere = `GET /account/request-logs?gateway_id=${second.made.id}&limit=1&cursor=${cursor}`
  expect((await fixture.api(owner, elsewhere)).status).toBe(400)
})

test('are absent for an unknown, a deleted or another account’s gateway', async () => {
  const stranger = await fixture.newCustomer()
  const foreign = await fixture.createGateway(stranger)
  const agent = await fixture.agent(foreign).ready()
  const own = await loggedRequest(stranger)
  expect(await logsOf(foreign.id, stranger)).toEqual([own])
  expect(await logsOf(foreign.id)).toEqual([])
  expect(await logsOf(first.made.id, stranger)).toEqual([])
  expect(await statsOf(first.made.id, stranger)).toMatchObject({ total_requests: 0, by_key: [] })
  for (const id of ['gw_00000000000000000000000000', 'nothing', "' or true --"]) {
    expect(await logsOf(id)).toEqual([])
  }
  const { status, error } = await fixture.api(
    owner,
    `GET /account/request-logs?gateway_id=${'x'.repeat(101)}`,
  )
  expect([status, error.code]).toEqual([400, 'invalid_request'])
  await fixture.api(stranger, `DELETE /gateways/${foreign.id}`)
  await agent.closed
  expect(await logsOf(foreign.id, stranger)).toEqual([])
})

test('for an organization’s gateway show members their own requests, as long as they are members', async () => {
  const organization = await newOrganization(fixture)
  const { owner: boss, id: organization_id, path } = organization
  const shared = await fixture.createGateway(boss, { scope: 'organization', organization_id })
  await fixture.agent(shared).ready()
  const member = await organization.member()
  const ids = { boss: await loggedRequest(boss), member: await loggedRequest(member) }
  expect(await logsOf(shared.id, boss)).toEqual([ids.boss])
  expect(await logsOf(shared.id, member)).toEqual([ids.member])
  await fixture.api(boss, `DELETE ${path}/members/${member.userId}`)
  expect(await logsOf(shared.id, member)).toEqual([])
  const { body } = await fixture.api(member, `GET /account/request-logs/${ids.member}`)
  expect(body['id']).toBe(ids.member)
})
