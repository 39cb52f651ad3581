import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { insertLogs } from './logged'
import { call, listIn, fetchPublic } from '../catalogue/requests'
import { newOrganization, type Organization } from '../../harness/organization'
import { createFixture, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Answer } from '../../harness/http'

let fixture: Fixture
let serving: Organization
let secret: Organization

const priced = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }

beforeAll(async () => {
  fixture = await createFixture()
  const { admin, recorder } = fixture.gateway
  await admin('PUT', '/config', { rates: { public_requests_per_minute: 100_000 } })
  await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  await admin('POST', '/models', { id: 'fake/one', ...priced })
  await admin('POST', '/models', { id: 'fake/two', ...priced })
  await admin('POST', '/models', { id: 'fake/free', ...priced, pricing: null, is_free: true })
  recorder.canary('sk-ours-0123456789')
  secret = await newOrganization(fixture, { is_public: false, slug: 'secret' })
  await secret.connection()
  await newOrganization(fixture, { name: 'Idle', slug: 'idle' })
  serving = await newOrganization(fixture, {
    name: 'Serving',
    slug: 'serving',
    description: 'Serves.',
    website: 'https://serving.example',
  })
  const made = await serving.connection({ billing_mode: 'member_pays' })
  await call(fixture.gateway, serving.owner, `PUT ${serving.path}`, {
    provider_kind: 'research_institution',
    allow_join_requests: false,
  })
  for (const [model, rating] of [
    ['one', 5],
    ['two', 4],
  ]) {
    const path = `/models/fake/${model}/ratings`
    await call(fixture.gateway, serving.owner, `POST ${path}`, { rating })
  }
  await using sql = await openDatabase(fixture.gateway.dataDir)
  const organization_id = serving.id
  const connection_id = String(made.body['id'])
  const ours = { organization_id, connection_id }
  await insertLogs(sql, [
    { status: 'success', latency_ms: 100, ...ours },
    { status: 'success', latency_ms: 301, ...ours },
    { status: 'error', latency_ms: 9000, ...ours },
    // By a connection of the platform, at the organization's cost.
    { status: 'error', organization_id, connection_id: 'conn_platform' },
  ])
})
afterAll(async () => {
  fixture.gateway.recorder.verify()
  await fixture[Symbol.asyncDispose]()
})

const seen = (path: string): Promise<Answer> => fetchPublic(fixture.gateway, path)

const shown = () => ({
  id: serving.id,
  name: 'Serving',
  slug: 'serving',
  description: 'Serves.',
  website: 'https://serving.example',
  member_count: 1,
  allow_join_requests: false,
  created_at: expect.stringMatching(/Z$/),
})

const profile = () => ({
  id: serving.id.replace('org_', 'prof_'),
  provider_key: null,
  organization_slug: 'serving',
  display_name: 'Serving',
  description: 'Serves.',
  website: 'https://serving.example',
  logo_url: null,
  kind: 'research_institution',
  model_count: 3,
  rating: null,
})

describe('public organizations', () => {
  test('are listed newest first, without the private ones', async () => {
    const answer = await seen('/organizations')
    const organizations = listIn(answer, 'organizations')
    expect(organizations.map(({ slug }) => slug)).toEqual(['serving', 'idle'])
    expect(organizations[0]).toEqual(shown())
    expect(answer.body['pagination']).toMatchObject({ total: 2, has_more: false })
    const found = await seen('/organizations?search=SERV')
    expect(listIn(found, 'organizations').map(({ slug }) => slug)).toEqual(['serving'])
    const page = await seen('/organizations?limit=1')
    const { next_cursor: cursor } = Object(page.body['pagination'])
    const next = await seen(`/organizations?limit=1&cursor=${String(cursor)}`)
    expect(listIn(next, 'organizations').map(({ slug }) => slug)).toEqual(['idle'])
  })

  test('show their models to members, and how these are paid', async () => {
    const { status, body } = await seen('/organization/serving')
    expect([status, body]).toEqual([
      200,
      {
        ...shown(),
        models: [
          { id: 'fake/free', billing_mode: 'free' },
          { id: 'fake/one', billing_mode: 'member_pays' },
          { id: 'fake/two', billing_mode: 'member_pays' },
        ],
        provider_profile: profile(),
      },
    ])
    const without = await seen('/organization/idle')
    expect(without.body).toMatchObject({ models: [], provider_profile: null })
  })

  test.each(['secret', 'nobody', 'x'.repeat(300)])('%s is not one', async (slug) => {
    const { status, error } = await seen(`/organization/${slug}`)
    expect([status, error.code]).toEqual([404, 'resource_not_found'])
  })

  test('are gone while they are suspended', async () => {
    const gone = await newOrganization(fixture, { slug: 'soon-gone' })
    await gone.connection()
    expect((await seen('/organization/soon-gone')).status).toBe(200)
    await fixture.gateway.admin('PUT', `/organizations/${gone.id}`, { status: 'suspended' })
    expect((await seen('/organization/soon-gone')).status).toBe(404)
    for (const list of ['organizations', 'inference-servers', 'provider-profiles']) {
      expect((await seen(`/${list}?search=soon-gone`)).body['pagination']).toMatchObject({
        total: 0,
      })
    }
  })
})

describe('inference servers', () => {
  test('belong to public organizations, with the figures of their own connections', async () => {
    const answer = await seen('/inference-servers')
    expect(listIn(answer, 'inference_servers')).toEqual([
      {
        id: serving.id.replace('org_', 'isrv_'),
        name: 'Serving',
        organization: { name: 'Serving', slug: 'serving' },
        gateway_type: 2,
        status: 'online',
        region: null,
        models: ['fake/free', 'fake/one', 'fake/two'],
        model_count: 3,
        avg_latency_ms: 201,
        uptime_percentage: 66.67,
      },
    ])
    expect(answer.body['pagination']).toMatchObject({ total: 1 })
    expect(listIn(await seen('/inference-servers?search=idle'), 'inference_servers')).toEqual([])
  })
})

describe('provider profiles', () => {
  test('are the providers by name, then organizations that serve models', async () => {
    const all = listIn(await seen('/provider-profiles?limit=100'), 'provider_profiles')
    expect(all.at(-1)).toEqual(profile())
    const upstream = all.slice(0, -1)
    expect(upstream.every(({ kind }) => kind === 'upstream')).toBe(true)
    expect(upstream.find((one) => one['provider_key'] === 'fake')).toEqual({
      id: expect.stringMatching(/^prof_[0-9a-hjkmnp-tv-z]{26}$/),
      provider_key: 'fake',
      organization_slug: null,
      display_name: 'Fake',
      description: null,
      website: null,
      logo_url: null,
      kind: 'upstream',
      model_count: 3,
      rating: 4.5,
    })
    const found = await seen('/provider-profiles?search=serving')
    expect(listIn(found, 'provider_profiles').map(({ id }) => id)).toEqual([profile().id])
  })

  test('are the same on pages of any size, by offset and by cursor', async () => {
    const late = await newOrganization(fixture, { name: 'Late', slug: 'late' })
    await late.connection()
    const all = listIn(await seen('/provider-profiles?limit=100'), 'provider_profiles')
    const ids = all.map(({ id }) => id)
    expect(ids.slice(-2)).toEqual([late.id.replace('org_', 'prof_'), profile().id])
    for (const limit of [7, ids.length - 2, ids.length - 1]) {
      const byOffset: unknown[] = []
      const byCursor: unknown[] = []
      let cursor = ''
      while (byCursor.length < ids.length) {
        const path = `/provider-profiles?limit=${limit}`
        const offset = await seen(`${path}&offset=${byOffset.length}`)
        const next = await seen(`${path}${cursor}`)
        byOffset.push(...listIn(offset, 'provider_profiles').map(({ id }) => id))
        byCursor.push(...listIn(next, 'provider_profiles').map(({ id }) => id))
        const pagination = Object(next.body['pagination'])
        expect(pagination).toMatchObject({
          total: ids.length,
          has_more: byCursor.length < ids.length,
        })
        cursor = `&cursor=${String(pagination.next_cursor)}`
      }
      expect([byOffset, byCursor]).toEqual([ids, ids])
    }
  })
})
