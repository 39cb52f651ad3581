import { afterAll, beforeAll, expect, test } from 'bun:test'
import { event, streamOf, type Agent } from '../../harness/tunnel-agent'
import { waitForValue, createGatewayFixture, readCutStream, type GatewayFixture } from './fixture'
import { newOrganization, type Organization } from '../../harness/organization'
import { openDatabase } from '../../harness/database'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import type { Customer } from '../../harness/server'

/** What a request costs that an organization's gateway serves to a member who pays. */

let fixture: GatewayFixture
let organization: Organization
let member: Customer
let agent: Agent

beforeAll(async () => {
  fixture = await createGatewayFixture()
  organization = await newOrganization(fixture)
  const scoped = { scope: 'organization', organization_id: organization.id }
  const made = await fixture.createGateway(organization.owner, scoped)
  agent = await fixture.agent(made).ready()
  const list = await fixture.api(organization.owner, 'GET /connections?gateway_type=3')
  const [connection] = Array.isArray(list.body['connections']) ? list.body['connections'] : []
  await fixture.api(organization.owner, `PUT /connections/${connection.id}`, {
    billing_mode: 'member_pays',
  })
  member = await organization.member()
  const { admin } = fixture.gateway
  await admin('POST', '/credits/grant', { user_id: member.userId, amount: 1, reason: 'test' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** Booked events of a request, and what they cost in nano-dollars. */
async function booked(requestId: string | null) {
  await using sql = await openDatabase(fixture.gateway.dataDir)
  const read = () =>
    sql`select outcome, cost::text from usage_event where request_id = ${requestId}`
  await waitForValue(async () => (await read()).length, 1)
  const [row] = await read()
  return { outcome: row?.['outcome'], cost: Number(row?.['cost']) }
}

const one = (fields = {}) => ({ model: 'fake/one', max_tokens: 100, ...fields })

test('a plain answer and a stream cost the server’s counts, at the price of the catalogue, once', async () => {
  const plain = await fixture.chat(member, one())
  expect(plain.status).toBe(200)
  // 5 tokens in at 1 USD a million, 3 out at 4.
  expect(await booked(plain.headers.get('x-request-id'))).toEqual({ outcome: 'ok', cost: 17_000 })
  agent.answer = (request) => agent.stream(request, streamOf('a', 'b'))
  const stream = await fixture.stream(member, one())
  expect(stream.isDone).toBe(true)
  expect(await booked(stream.headers.get('x-request-id'))).toEqual({ outcome: 'ok', cost: 13_000 })
})

test('G04: a gateway that dies in the middle of a stream is paid for the relayed part, once', async () => {
  agent.answer = ({ id }) => {
    for (let at = 0; at < 20; at++) {
      agent.send({ type: 'chunk', id, data: event({ content: `word after word ${at} ` }) })
    }
  }
  const cut = await readCutStream(fixture, {
    by: member,
    mark: 'word 19 ',
    cut: () => agent.kill(),
    fields: one(),
  })
  expect([cut.error.code, cut.isDone]).toEqual(['connection_failed', false])
  const { outcome, cost } = await booked(cut.headers.get('x-request-id'))
  expect(outcome).toBe('connection_failed')
  // 60 words or so, of which the caller asked for 100 tokens at most.
  expect(cost).toBeWithin(100_000, 500_000)
})

test('an offline gateway costs nothing, and the ledger is in order', async () => {
  await agent.closed
  const refused = await fixture.chat(member, one())
  expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
  await using sql = await openDatabase(fixture.gateway.dataDir)
  await expectSoundLedger(sql)
})
