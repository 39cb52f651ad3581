import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newOrganization, uniqueName } from '../../harness/organization'
import { call, idIn, createModelFixture, problem, type Fixture } from '../../harness/byok'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createModelFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.reset())

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

const chat = (by: Customer) =>
  sendRequest(fixture.gateway, { key: by.key, body: { model: 'fake/one', messages } })

const organization = (fields?: Json) => newOrganization(fixture, fields)

describe('an organization', () => {
  test('is created with its creator as owner, and returned in full', async () => {
    const owner = await fixture.newCustomer()
    const made = await api(owner, 'POST /organizations', { name: '  Ünïted Ärtists!  ' })
    const id = idIn(made)
    expect(made.body).toMatchObject({
      name: 'Ünïted Ärtists!',
      description: null,
      website: null,
      is_public: false,
      provider_kind: null,
      role: 'owner',
      status: 'active',
      is_primary: true,
      member_count: 1,
      member_limit: 100,
      auto_approve_requests: false,
      auto_approve_domains: [],
      rate_limit_requests_per_minute: 60,
      rate_limit_tokens_per_minute: 100_000,
      rate_limit_images_per_minute: null,
      rate_limit_audio_seconds_per_minute: null,
      max_concurrent_requests: 10,
      monthly_spend_limit: null,
      default_member_spending_limit: null,
      credit_balance: 0,
    })
    expect(made.body['slug']).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/)
    expect((await api(owner, `GET /organizations/${id}`)).body).toEqual(made.body)
    const { body } = await api(owner, 'GET /organizations')
    const { name, slug, created_at } = made.body
    const brief = { id, name, slug, created_at, role: 'owner', status: 'active' }
    expect(body).toEqual({ organizations: [{ ...brief, member_count: 1, is_primary: true }] })
    const second = await api(owner, 'POST /organizations', { name: 'Another' })
    expect(problem(second)).toEqual([400, null, 'limit_reached'])
  })

  test.each<[Json, string, string]>([
    [{ name: 'x' }, 'name', 'too_short'],
    [{ slug: 'ab' }, 'slug', 'too_short'],
    [{ slug: 'a--b' }, 'slug', 'bad_format'],
    [{ slug: 'Upper' }, 'slug', 'bad_format'],
    [{ slug: 'openai' }, 'slug', 'reserved'],
    [{ slug: 'fake' }, 'slug', 'reserved'],
    [{ slug: 'admin' }, 'slug', 'reserved'],
    [{ website: 'ftp://x.example' }, 'website', 'bad_format'],
    [{ description: 'x'.repeat(1001) }, 'description', 'too_long'],
    [{ is_public: 'yes' }, 'is_public', 'wrong_type'],
  ])('%j is rejected at %s: %s', async (fields, param, issue) => {
    const owner = await fixture.newCustomer()
    const answer = await api(owner, 'POST /organizations', { name: 'Company', ...fields })
    expect(problem(answer)).toEqual([400, param, issue])
  })

  test('two of one name have slugs of their own; a taken slug is rejected, also that of a provider', async () => {
    const slugs = []
    for (let k = 0; k < 3; k++) {
      const { body } = await api(await fixture.newCustomer(), 'POST /organizations', {
        name: 'Twins',
      })
      slugs.push(body['slug'])
    }
    expect(new Set(slugs).size).toBe(3)
    expect(slugs[0]).toBe('twins')
    const taken = await api(await fixture.newCustomer(), 'POST /organizations', {
      name: 'Twins',
      slug: 'twins',
    })
    expect(problem(taken)).toEqual([400, 'slug', 'taken'])
    const provider = { key: 'twins', name: 'Twins', adapter: 'openai' }
    await expect(fixture.gateway.admin('POST', '/providers', provider)).rejects.toThrow('taken')
  })

  test.each(['Support', 'Collection', 'API!', 'Sandbox'])(
    'named %j has no slug that means something else',
    async (name) => {
      const { body } = await api(await fixture.newCustomer(), 'POST /organizations', { name })
      expect(body['slug']).toMatch(/^[a-z]+(-[a-z]+)*-\d+$/)
    },
  )

  test('is changed by its owner and admins, its slug by the owner', async () => {
    const { owner, path, member } = await organization()
    const [admin, developer] = [await member('admin'), await member('developer')]
    const change = { name: 'Renamed', provider_kind: 'startup', description: 'Ours.' }
    expect((await api(admin, `PUT ${path}`, change)).body).toMatchObject(change)
    const slug = uniqueName('renamed').replace(' ', '-')
    const refused = await api(admin, `PUT ${path}`, { slug })
    expect([refused.status, refused.error.details]).toEqual([
      403,
      { required: ['owner'], current: ['admin'] },
    ])
    expect((await api(owner, `PUT ${path}`, { slug })).body).toMatchObject({ slug })
    const low = await api(developer, `PUT ${path}`, change)
    expect([low.status, low.error.details]).toEqual([
      403,
      { required: ['owner', 'admin'], current: ['developer'] },
    ])
    expect((await api(developer, `GET ${path}`)).body).toMatchObject({ credit_balance: null })
  })

  test('its rates are limited by its plan', async () => {
    const { owner, path } = await organization()
    const over = await api(owner, `PUT ${path}`, { rate_limit_requests_per_minute: 61 })
    expect(problem(over)).toEqual([400, 'rate_limit_requests_per_minute', 'out_of_range'])
    const within = await api(owner, `PUT ${path}`, { rate_limit_requests_per_minute: 30 })
    expect(within.body).toMatchObject({ rate_limit_requests_per_minute: 30 })
    const media = { rate_limit_images_per_minute: 5, rate_limit_audio_seconds_per_minute: 90 }
    expect((await api(owner, `PUT ${path}`, media)).body).toMatchObject(media)
    const freed = { rate_limit_images_per_minute: null, rate_limit_audio_seconds_per_minute: null }
    expect((await api(owner, `PUT ${path}`, freed)).body).toMatchObject(freed)
  })

  test('A01: is 404 for accounts without an active membership, for every method', async () => {
    const { owner, id, path } = await organization()
    const stranger = await fixture.newCustomer()
    const waiting = await fixture.newCustomer()
    await api(waiting, `POST ${path}/join`, {})
    const absent = '/organizations/org_01m7zbr7rr3rrzfbtxk7716g95'
    const gone = (await api(stranger, `GET ${absent}`)).body
    for (const by of [stranger, waiting]) {
      const answers = [
        await api(by, `GET ${path}`),
        await api(by, `PUT ${path}`, { name: 'Mine' }),
        await api(by, `DELETE ${path}`),
        await api(by, `GET ${path}/members`),
        await api(by, `PUT ${path}/members/${by.userId}`, { role: 'owner' }),
        await api(by, `DELETE ${path}/members/${owner.userId}`),
        await api(by, 'POST /connections', {
          name: 'x',
          provider: 'fake',
          api_key: 'sk-x',
          endpoint_url: fixture.upstream.url,
          scope: 'organization',
          organization_id: id,
        }),
      ]
      for (const { status, body } of answers) expect([status, body]).toEqual([404, gone])
    }
    expect((await api(waiting, 'GET /organizations')).body).toMatchObject({
      organizations: [{ id, status: 'pending' }],
    })
  })

  test('is deleted by its owner, with all its objects', async () => {
    const { owner, path, member, connection } = await organization()
    const admin = await member('admin')
    await connection()
    expect((await chat(admin)).status).toBe(200)
    expect((await api(admin, `DELETE ${path}`)).status).toBe(403)
    expect((await api(owner, `DELETE ${path}`)).body).toMatchObject({ success: true })
    expect((await api(owner, `GET ${path}`)).status).toBe(404)
    expect((await chat(admin)).error.code).toBe('model_access_denied')
    expect((await api(admin, 'GET /connections')).body).toMatchObject({ connections: [] })
  })
})

describe('connections of an organization', () => {
  test('serve members by their roles, and are returned without their keys', async () => {
    const { path, owner, member, connection } = await organization()
    const made = await connection({ rate_limits: { rpm: 100 } })
    expect(made.body).toMatchObject({
      scope: 'organization',
      billing_mode: 'org_pays',
      rate_limits: {
        rpm: 100,
        tpm: null,
        images_per_minute: null,
        audio_seconds_per_minute: null,
      },
    })
    const id = idIn(made)
    const [developer, viewer, plain] = [
      await member('developer'),
      await member('viewer'),
      await member(),
    ]
    for (const by of [owner, developer, plain]) expect((await chat(by)).status).toBe(200)
    expect((await chat(viewer)).error.code).toBe('model_access_denied')
    const seen = await api(viewer, `GET /connections/${id}`)
    expect(seen.body).toMatchObject({
      id,
      rate_limits: null,
      api_key_prefix: null,
      last_error: null,
    })
    for (const [method, action] of [
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/update-key'],
    ]) {
      const body = method === 'PUT' ? { priority: 3 } : { api_key: 'sk-mine' }
      const refused = await api(developer, `${method} /connections/${id}${action}`, body)
      expect([method, refused.status, refused.error.details]).toEqual([
        method,
        403,
        { required: ['owner', 'admin'], current: ['developer'] },
      ])
    }
    expect((await connection({}, developer)).status).toBe(403)
    await api(owner, `PUT ${path}/members/${plain.userId}`, { status: 'suspended' })
    expect((await chat(plain)).error.code).toBe('organization_required')
    expect((await api(plain, `GET /connections/${id}`)).status).toBe(404)
  })

  test('an own one comes before them, and theirs before the platform', async () => {
    const { owner, connection } = await organization()
    await connection()
    const lastAuthorization = () => fixture.upstream.requests.at(-1)?.headers.get('authorization')
    await chat(owner)
    expect(lastAuthorization()).toBe('Bearer sk-ours-0123456789')
    const own = await api(owner, 'POST /connections', {
      name: 'Mine',
      provider: 'fake',
      api_key: 'sk-mine-0123456789',
      endpoint_url: fixture.upstream.url,
    })
    await chat(owner)
    expect(lastAuthorization()).toBe('Bearer sk-mine-0123456789')
    await api(owner, `PUT /connections/${idIn(own)}`, { status: 'inactive' })
    await chat(owner)
    expect(lastAuthorization()).toBe('Bearer sk-ours-0123456789')
  })

  test('21.1: rejects non-members of a public one with a request to join, of a private one with 404', async () => {
    const provider = { key: 'rare', name: 'Rare', adapter: 'openai' }
    await fixture.gateway.admin('POST', '/providers', provider)
    const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
    await fixture.gateway.admin('POST', '/models', { id: 'rare/one', ...model })
    const { owner, path, connection } = await organization({ is_public: false })
    await connection({ provider: 'rare' })
    const stranger = await fixture.newCustomer()
    const code = async () => {
      const body = { model: 'rare/one', messages }
      return (await sendRequest(fixture.gateway, { key: stranger.key, body })).error.code
    }
    expect(await code()).toBe('model_access_denied')
    await api(owner, `PUT ${path}`, { is_public: true })
    expect(await code()).toBe('organization_required')
  })

  test('21.3: a member’s payment goes to the pool, which has to be empty before its deletion', async () => {
    const { owner, path, member, connection } = await organization()
    await connection({ billing_mode: 'member_pays' })
    const payer = await member()
    expect((await chat(payer)).error.code).toBe('insufficient_credits')
    const grant = { user_id: payer.userId, amount: 1, reason: 'test' }
    await fixture.gateway.admin('POST', '/credits/grant', grant)
    const { status, headers } = await chat(payer)
    expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0.000017'])
    const poolOf = async () => (await api(owner, `GET ${path}`)).body['credit_balance']
    await eventually(async () => (await poolOf()) !== 0)
    expect(await poolOf()).toBe(0.000017)
    const { balance } = await fixture.gateway.admin('GET', `/users/${payer.userId}`)
    expect(balance).toBe(0.999983)
    expect(problem(await api(owner, `DELETE ${path}`))).toEqual([400, null, 'wrong_state'])
  })

  test('a pool of them has their mode unless another is set', async () => {
    const { id, owner, connection, member } = await organization()
    const ids = [
      idIn(await connection({ billing_mode: 'member_pays' })),
      idIn(await connection({ billing_mode: 'member_pays' })),
    ]
    const pool = { name: 'p', provider: 'fake', connection_ids: ids }
    const shared = { ...pool, scope: 'organization', organization_id: id }
    const made = await api(owner, 'POST /connection-pools', shared)
    expect(made.body).toMatchObject({ billing_mode: 'member_pays', organization_id: id })
    const own = await api(owner, 'POST /connection-pools', pool)
    expect(problem(own)).toEqual([400, 'connection_ids.0', 'unknown_value'])
    const developer = await member('developer')
    const path = `/connection-pools/${idIn(made)}`
    expect((await api(developer, `GET ${path}`)).status).toBe(200)
    expect((await api(developer, `PUT ${path}`, { name: 'x' })).status).toBe(403)
    expect((await api(developer, `DELETE ${path}`)).status).toBe(403)
  })
})
