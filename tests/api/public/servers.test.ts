import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { insertLogs } from './logged'
import { listIn, fetchPublic } from '../catalogue/requests'
import { newOrganization, type Organization } from '../../harness/organization'
import { openDatabase } from '../../harness/database'
import { eventually } from '../../../server/testing/eventually'
import type { Json } from '../../harness/http'
import { defaultHello, type Agent } from '../../harness/tunnel-agent'
import {
  waitForValue,
  createGatewayFixture,
  type GatewayFixture,
  type CreatedGateway,
} from '../../gateway/tunnel/fixture'

/** Self-hosted gateways among the inference servers that every caller may see: 18. */

let fixture: GatewayFixture
let serving: Organization
let open: CreatedGateway
let openAgent: Agent
const secrets = ['Backroom', 'backroom-model', 'Cellar', 'Attic', 'Hideout', 'sk-ours-0123456789']

/** Whose it is to be. */
const scoped = ({ id }: Organization, name: string, is_public: boolean) => ({
  name,
  scope: 'organization',
  organization_id: id,
  is_public,
})

beforeAll(async () => {
  fixture = await createGatewayFixture()
  const { admin } = fixture.gateway
  await admin('PUT', '/config', { rates: { public_requests_per_minute: 100_000 } })
  serving = await newOrganization(fixture, { name: 'Serving', slug: 'serving' })
  open = await fixture.createGateway(serving.owner, scoped(serving, 'Workshop', true))
  openAgent = await fixture.agent(open).ready()
  const backroom = await fixture.createGateway(serving.owner, scoped(serving, 'Backroom', false))
  const models = [{ provider: 'fake', name: 'backroom-model' }]
  await fixture.agent(backroom, { hello: { ...defaultHello, models } }).ready()
  await fixture.createGateway(serving.owner, scoped(serving, 'Dormant', true))
  // An organization that does not show itself shows none of its gateways either; nor does an account.
  const hidden = await newOrganization(fixture, { name: 'Hideout', is_public: false })
  const cellar = await fixture.createGateway(hidden.owner, scoped(hidden, 'Cellar', true))
  await fixture.agent(cellar).ready()
  const attic = await fixture.createGateway(await fixture.newCustomer(), { name: 'Attic' })
  await fixture.agent(attic).ready()
  await serving.connection({ provider: 'openai' })
  await happened()
})
afterAll(async () => {
  fixture.gateway.recorder.verify()
  await fixture[Symbol.asyncDispose]()
})

/** The open one was there in half of the last 100 minutes, and answered in 250 ms. */
async function happened(): Promise<void> {
  await using sql = await openDatabase(fixture.gateway.dataDir)
  await sql`
    update gateway set watched_since = now() - interval '100 minutes' where id = ${open.id}`
  await sql`delete from gateway_hour where gateway_id = ${open.id}`
  // The gateway may write the current minute between the two statements.
  await sql`
    insert into gateway_hour (gateway_id, hour, minutes)
    select ${open.id}, minute / 60, bit_or(1::bigint << (minute % 60))
    from (
      select (floor(extract(epoch from now()) / 60) - back)::integer as minute
      from generate_series(1, 50) as back
    ) as half group by minute / 60
    on conflict (gateway_id, hour) do update set minutes = excluded.minutes`
  const [connection] = await sql`select id from connection where gateway_id = ${open.id}`
  const ours = { organization_id: serving.id, connection_id: String(connection?.['id']) }
  await insertLogs(sql, [
    { status: 'success', latency_ms: 200, ...ours },
    { status: 'success', latency_ms: 300, ...ours },
    { status: 'error', latency_ms: 9000, ...ours },
  ])
}

const seen = (path: string) => fetchPublic(fixture.gateway, path)
const servers = async (query = '') =>
  listIn(await seen(`/inference-servers${query}`), 'inference_servers')
const names = async (query: string) => (await servers(query)).map(({ name }) => name)
const named = async (name: string): Promise<Json | undefined> =>
  (await servers('?limit=100')).find((server) => server['name'] === name)

describe('inference servers', () => {
  test('are the public gateways of public organizations, with their models and their state', async () => {
    const workshop = await named('Workshop')
    expect(workshop).toEqual({
      id: open.id.replace('gw_', 'isrv_'),
      name: 'Workshop',
      organization: { name: 'Serving', slug: 'serving' },
      gateway_type: 3,
      status: 'online',
      region: null,
      models: ['fake/mine', 'fake/one'],
      model_count: 2,
      avg_latency_ms: 250,
      uptime_percentage: expect.any(Number),
    })
    // 50 of 100 minutes, and the running one or two by the agent that is there.
    expect(workshop?.['uptime_percentage']).toBeWithin(49, 52)
  })

  test('a gateway that never connected is listed, with unknown figures', async () => {
    expect(await named('Dormant')).toMatchObject({
      status: 'starting',
      models: [],
      model_count: 0,
      avg_latency_ms: null,
      uptime_percentage: null,
    })
  })

  test('the minutes in which one is online are written down', async () => {
    await using sql = await openDatabase(fixture.gateway.dataDir)
    const isSeen = async (name: string): Promise<boolean> => {
      const rows: { minutes: string }[] = await sql`
        select known.minutes from gateway join gateway_hour as known on known.gateway_id = gateway.id
        where name = ${name} and known.minutes <> 0`
      return rows.length > 0
    }
    await eventually(() => isSeen('Backroom'))
    expect(await isSeen('Dormant')).toBe(false)
  })

  test('Tollgate’s own address counts as another server, without the models of gateways', async () => {
    const cloud = await named('Serving')
    expect(cloud).toMatchObject({
      id: serving.id.replace('org_', 'isrv_'),
      gateway_type: 2,
      status: 'online',
      avg_latency_ms: null,
      uptime_percentage: null,
    })
    const models: unknown[] = Array.isArray(cloud?.['models']) ? cloud['models'] : []
    expect(models.length).toBeGreaterThan(5)
    expect(models.every((id) => String(id).startsWith('openai/'))).toBe(true)
  })

  test('are found by their names and their organization’s, and paged', async () => {
    expect(await names('?search=WORKSH')).toEqual(['Workshop'])
    expect(new Set(await names('?search=serving'))).toEqual(
      new Set(['Serving', 'Workshop', 'Dormant']),
    )
    expect(await names('?search=%25')).toEqual([])
    const all = await names('?limit=100')
    const paged: unknown[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const answer = await seen(`/inference-servers?limit=1${cursor}`)
      const { next_cursor: next, total } = Object(answer.body['pagination'])
      expect(total).toBe(3)
      paged.push(...listIn(answer, 'inference_servers').map(({ name }) => name))
      cursor = `&cursor=${String(next)}`
    }
    expect(paged).toEqual(all)
  })

  test('a disconnected one is shown as offline, with its last models', async () => {
    openAgent.kill()
    await waitForValue(async () => (await named('Workshop'))?.['status'], 'offline')
    expect(await named('Workshop')).toMatchObject({ models: ['fake/mine', 'fake/one'] })
  })
})

test('public pages name existing objects only', async () => {
  const paths = [
    '/inference-servers?limit=100',
    '/organizations?limit=100',
    '/organization/serving',
    '/provider-profiles?limit=100',
    '/provider-profiles?search=serving',
  ]
  const texts = await Promise.all(paths.map(async (path) => (await seen(path)).text))
  for (const secret of [...secrets, open.token]) {
    expect(texts.filter((text) => text.includes(secret))).toEqual([])
  }
})

test('an organization with only a public gateway is a provider with the models of the gateway', async () => {
  const organization = await newOrganization(fixture, { name: 'Lone', slug: 'lone' })
  const { owner, id: organization_id } = organization
  const profiles = async () =>
    listIn(await seen('/provider-profiles?search=lone'), 'provider_profiles')
  expect(await profiles()).toEqual([])
  const scope = { scope: 'organization', organization_id, is_public: true }
  const made = await fixture.createGateway(owner, scope)
  await fixture.agent(made).ready()
  await waitForValue(async () => (await profiles())[0]?.['model_count'], 2)
  expect(await profiles()).toMatchObject([
    { organization_slug: 'lone', display_name: 'Lone', kind: null, model_count: 2 },
  ])
  const { body } = await seen('/organization/lone')
  expect(body['models']).toEqual([
    { id: 'fake/mine', billing_mode: 'free' },
    { id: 'fake/one', billing_mode: 'org_pays' },
  ])
  expect(body['provider_profile']).toMatchObject({ model_count: 2 })
})
