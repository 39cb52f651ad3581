import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { defaultHello } from '../../harness/tunnel-agent'
import {
  waitForValue,
  createGatewayFixture,
  statusOf,
  type GatewayFixture,
  type CreatedGateway,
} from './fixture'
import { newOrganization } from '../../harness/organization'
import { idIn, problem } from '../../harness/byok'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** Self-hosted gateways and their connections, as they are made and shown. */

let fixture: GatewayFixture
let owner: Customer

beforeAll(async () => {
  fixture = await createGatewayFixture()
  owner = await fixture.newCustomer()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.gateway.recorder.verify())

const api = (request: string, body?: Json, by = owner) => fixture.api(by, request, body)

describe('a gateway', () => {
  test('is made with a token that is shown once, and where to connect', async () => {
    const { status, body } = await api('POST /gateways', { name: '  SupportFixture  ' })
    expect(status).toBe(201)
    const { token, connect_url: connectUrl, ...shown } = body
    fixture.gateway.recorder.canary(String(token))
    expect(String(token)).toMatch(/^gt-tg-[0-9A-Za-z]{49}$/)
    expect(connectUrl).toBe(
      `${fixture.gateway.url.replace('http', 'ws').replace('127.0.0.1', 'localhost')}/gateway`,
    )
    expect(shown).toEqual({
      id: String(body['id']),
      name: 'SupportFixture',
      gateway_type: 3,
      status: 'starting',
      scope: 'individual',
      organization_id: null,
      is_public: false,
      tool_count: 0,
      tools: [],
      providers: [],
      version: null,
      last_heartbeat_at: null,
      created_at: String(body['created_at']),
    })
    expect((await api('GET /gateways')).body['gateways']).toEqual([shown])
    for (const query of ['status=online', 'scope=organization']) {
      expect((await api(`GET /gateways?${query}`)).body['gateways']).toEqual([])
    }
    expect((await api('GET /gateways?status=starting&scope=individual')).body).toMatchObject({
      pagination: { total: 1 },
    })
  })

  test.each<[Json, string, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: 'x'.repeat(101) }, 'name', 'too_long'],
    [{ scope: 'platform' }, 'scope', 'unknown_value'],
    [{ scope: 'organization' }, 'organization_id', 'required'],
    [{ organization_id: 'org_1' }, 'organization_id', 'not_allowed'],
    [{ is_public: true }, 'is_public', 'not_allowed'],
    [{ is_public: 'yes' }, 'is_public', 'wrong_type'],
  ])('%j is rejected at %s: %s', async (fields, param, issue) => {
    const answer = await api('POST /gateways', { name: 'One', ...fields })
    expect(problem(answer)).toEqual([400, param, issue])
  })

  test('is one of twenty at most, also where many are made at once', async () => {
    const customer = await fixture.newCustomer()
    const making = Array.from({ length: 25 }, (_, at) =>
      api('POST /gateways', { name: `Gateway ${at}` }, customer),
    )
    const answers = await Promise.all(making)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    const [refused] = answers.filter(({ status }) => status === 400)
    expect(refused && problem(refused)).toEqual([400, null, 'limit_reached'])
  })

  test('of an organization is changed by its managers, and seen and called by its members', async () => {
    const organization = await newOrganization(fixture)
    const [member, viewer] = [await organization.member(), await organization.member('viewer')]
    const scoped = { scope: 'organization', organization_id: organization.id }
    const refused = await api('POST /gateways', { name: 'Ours', ...scoped }, member)
    expect([refused.status, refused.error.code]).toEqual([403, 'insufficient_permissions'])
    const made = await fixture.createGateway(organization.owner, {
      name: 'Ours',
      ...scoped,
      is_public: true,
    })
    const agent = await fixture.agent(made).ready()
    for (const by of [member, viewer]) {
      const { body } = await api('GET /gateways?scope=organization', undefined, by)
      expect(body['gateways']).toMatchObject([{ id: made.id, status: 'online', is_public: true }])
    }
    expect((await fixture.chat(member)).status).toBe(200)
    // Who calls no models there does not know of it.
    expect((await fixture.chat(viewer)).status).toBe(404)
    expect(agent.seen('request')).toHaveLength(1)
    expect((await api(`DELETE /gateways/${made.id}`, undefined, member)).status).toBe(403)
    expect((await api(`DELETE /gateways/${made.id}`)).status).toBe(404)
  })
})

const listed = async () => (await api('GET /connections?gateway_type=3')).body['connections']

describe('a connection by a gateway', () => {
  let made: CreatedGateway

  beforeAll(async () => {
    made = await fixture.createGateway(owner, { name: 'Served' })
    await fixture.agent(made).ready()
  })

  const connection = (fields: Json = {}) =>
    api('POST /connections', {
      name: 'By mine',
      provider: 'fake',
      gateway_type: 3,
      gateway_id: made.id,
      ...fields,
    })

  test('is made with the first hello, one a provider, and by no later one', async () => {
    const first = await listed()
    expect(first).toMatchObject([
      {
        name: 'Served fake',
        provider: 'fake',
        gateway_type: 3,
        gateway_id: made.id,
        status: 'active',
        scope: 'individual',
        is_default: true,
        endpoint_url: null,
        api_key_prefix: null,
        model_count: 2,
      },
    ])
    await fixture.agent(made).ready()
    expect(await listed()).toEqual(first)
  })

  test('is created by hand too, with the models of the gateway', async () => {
    const answer = await connection({ provider: 'openai', is_default: false })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ gateway_id: made.id, model_count: 0, is_default: false })
  })

  test.each<[Json, number, string | null, string | undefined]>([
    [{ gateway_id: undefined }, 400, 'gateway_id', 'required'],
    [{ gateway_id: 'gw_01m7zbr7rr3rrzfbtxk7716g95' }, 404, null, undefined],
    [{ gateway_id: 'nonsense' }, 404, null, undefined],
    [{ api_key: 'sk-0123456789' }, 400, 'api_key', 'not_allowed'],
    [{ endpoint_url: 'https://api.example.com' }, 400, 'endpoint_url', 'not_allowed'],
    [{ provider: 'nobody' }, 400, 'provider', 'unknown_value'],
  ])('%j: %d at %p', async (fields, ...expected) => {
    expect(problem(await connection(fields))).toEqual(expected)
  })

  test('is by a gateway of the same owner, and of no other', async () => {
    const stranger = await fixture.newCustomer()
    const theirs = await fixture.createGateway(stranger)
    expect((await connection({ gateway_id: theirs.id })).status).toBe(404)
  })

  test('has no key and no address to change', async () => {
    const path = `/connections/${idIn(await connection())}`
    const secret = { api_key: 'sk-0123456789' }
    const given = [400, 'api_key', 'not_allowed']
    expect(problem(await api(`POST ${path}/update-key`, secret))).toEqual(given)
    expect(problem(await api(`PUT ${path}`, secret))).toEqual(given)
    const moved = await api(`PUT ${path}`, { endpoint_url: 'https://api.example.com' })
    expect(problem(moved)).toEqual([400, 'endpoint_url', 'not_allowed'])
    for (const status of ['inactive', 'active']) {
      expect((await api(`PUT ${path}`, { status })).body['status']).toBe(status)
    }
  })

  test('is tested by the last report of its gateway', async () => {
    const path = `/connections/${idIn(await connection())}`
    const good = await api(`POST ${path}/test`)
    expect(good.body).toMatchObject({ success: true, status: 'active', models_found: 2 })
    const other = `/connections/${idIn(await connection({ provider: 'openai' }))}`
    const bad = await api(`POST ${other}/test`)
    expect(bad.body).toMatchObject({ success: false, status: 'error', models_found: 0 })
    expect(bad.body['message']).toContain('does not serve OpenAI')
  })

  test('follows each hello: models come and go, as callers see them', async () => {
    const { owner: customer, agent } = await fixture.served()
    const offered = async () => {
      const { data } = await customer.client.models.list()
      return data.map(({ id }) => id).filter((id) => id.startsWith('fake/'))
    }
    expect(await offered()).toEqual(['fake/one', 'fake/mine'])
    agent.hello({ ...defaultHello, models: [{ provider: 'fake', name: 'newer' }] })
    await waitForValue(async () => String(await offered()), 'fake/one,fake/newer')
    expect((await fixture.chat(customer)).status).toBe(404)
    expect((await fixture.chat(customer, { model: 'fake/newer' })).status).toBe(200)
    // In the catalogue, but the gateway has it no more.
    const gone = await fixture.chat(customer, { model: 'fake/one' })
    expect([gone.status, gone.error.code]).toEqual([503, 'gateway_unavailable'])
  })

  test('is inactive once its gateway is deleted, and cannot be used again', async () => {
    const { owner: customer, createGateway: theirs, agent } = await fixture.served()
    await api(`DELETE /gateways/${theirs.id}`, undefined, customer)
    await agent.closed
    const { body } = await api('GET /connections', undefined, customer)
    const [left] = Array.isArray(body['connections']) ? body['connections'] : []
    expect(left).toMatchObject({ status: 'inactive', gateway_id: null, gateway_type: 3 })
    const again = await api(`PUT /connections/${left.id}`, { status: 'active' }, customer)
    expect(problem(again)).toEqual([400, 'status', 'wrong_state'])
    expect((await fixture.chat(customer)).status).toBe(404)
  })
})

const session = (by: Customer, gatewayId: string) =>
  api(
    'POST /automation/sessions',
    { modelId: 'sandbox/echo', sessionType: 'remote_chat', gatewayId },
    by,
  )

describe('a session that is held by a gateway', () => {
  test('needs it online when it is made', async () => {
    const { owner: customer, createGateway: theirs, agent } = await fixture.served()
    const made = await session(customer, theirs.id)
    expect([made.status, made.body['gatewayId']]).toEqual([201, theirs.id])
    const stranger = await session(await fixture.newCustomer(), theirs.id)
    expect([stranger.status, stranger.error.code]).toEqual([404, 'resource_not_found'])
    agent.kill()
    await waitForValue(() => statusOf(fixture, customer, theirs.id), 'offline')
    const refused = await session(customer, theirs.id)
    expect([refused.status, refused.error.code]).toEqual([503, 'gateway_unavailable'])
  })

  test('has failed when a message comes and the gateway is deleted', async () => {
    const { owner: customer, createGateway: theirs } = await fixture.served()
    const path = `/automation/sessions/${idIn(await session(customer, theirs.id))}`
    await api(`DELETE /gateways/${theirs.id}`, undefined, customer)
    const sentMessage = await api(`POST ${path}/messages`, { content: 'Hello.' }, customer)
    expect([sentMessage.status, sentMessage.error.code]).toEqual([404, 'resource_not_found'])
    expect((await api(`GET ${path}`, undefined, customer)).body['status']).toBe('failed')
  })
})
