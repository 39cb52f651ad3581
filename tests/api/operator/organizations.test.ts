import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest as operate, problem } from '../../harness/operator'
import { newOrganization, type Organization } from '../../harness/organization'
import { completion, createFixture, type Fixture } from '../../harness/byok'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  const { admin } = fixture.gateway
  await admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  const model = { name: 'One', category: 'chat', pricing: { input: 1, output: 4 } }
  await admin('POST', '/models', { id: 'fake/one', ...model })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => {
  fixture.gateway.recorder.verify()
  fixture.upstream.requests.length = 0
  fixture.upstream.answer = () => completion()
})

const admin = (request: string, body?: Json) => operate(fixture.gateway, request, body)
const organization = (fields?: Json): Promise<Organization> => newOrganization(fixture, fields)

const statusOf = async ({ key }: Customer) =>
  (await sendRequest(fixture.gateway, { key, body: { model: 'fake/one', messages } })).status

/** Waits until a call of the account gets that status; a second is promised. */
async function until(caller: Customer, status: number): Promise<void> {
  const tookMs = await eventually(async () => (await statusOf(caller)) === status)
  recordFigure(`a change that makes answers ${status}`, tookMs, { unit: 'ms', atMost: 1000 })
}

describe('organizations, for the operator', () => {
  test('are listed, searched and returned in full', async () => {
    const made = await organization({ name: 'Needle & Sons', slug: 'needle-and-sons' })
    const found = await admin('GET /organizations?search=needle-')
    const expected = {
      id: made.id,
      name: 'Needle & Sons',
      slug: 'needle-and-sons',
      description: null,
      website: null,
      is_public: true,
      provider_kind: null,
      status: 'active',
      plan_id: expect.stringMatching(/^plan_/),
      payment_method_required: false,
      member_count: 1,
      member_limit: 100,
      allow_join_requests: true,
      auto_approve_requests: false,
      auto_approve_domains: [],
      rate_limit_requests_per_minute: 60,
      rate_limit_tokens_per_minute: 100_000,
      rate_limit_images_per_minute: null,
      rate_limit_audio_seconds_per_minute: null,
      max_concurrent_requests: 10,
      monthly_spend_limit: null,
      default_member_spending_limit: null,
      audit_retention_months: null,
      billing_email: expect.stringContaining('@'),
      credit_balance: 0,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    }
    expect(found.body).toEqual({
      organizations: [expected],
      pagination: { total: 1, limit: 50, offset: 0, has_more: false, next_cursor: null },
    })
    expect((await admin(`GET /organizations/${made.id}`)).body).toEqual(expected)
  })

  test('are changed beyond the permissions of their owners', async () => {
    const { id } = await organization()
    const plan = await admin('POST /plans', { name: 'Small', max_org_members: 3 })
    const change = {
      name: 'Renamed',
      slug: `renamed-${Date.now().toString(36)}`,
      description: 'Ours.',
      provider_kind: 'startup',
      rate_limit_requests_per_minute: 5000,
      rate_limit_images_per_minute: 30,
      rate_limit_audio_seconds_per_minute: 900,
      monthly_spend_limit: 12.5,
      plan_id: plan.body['id'],
      payment_method_required: true,
    }
    const changed = await admin(`PUT /organizations/${id}`, change)
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ ...change, member_limit: 3 }),
    ])
    const widened = await admin(`PUT /organizations/${id}`, { member_limit: 7 })
    expect(widened.body['member_limit']).toBe(7)
    const back = await admin(`PUT /organizations/${id}`, {
      member_limit: null,
      description: null,
      payment_method_required: false,
    })
    expect(back.body).toMatchObject({
      member_limit: 3,
      description: null,
      payment_method_required: false,
    })
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ status: 'closed' }, 'status', 'unknown_value'],
    [{ member_limit: 0 }, 'member_limit', 'out_of_range'],
    [{ plan_id: 'plan_none' }, 'plan_id', 'unknown_value'],
    [{ name: 'x' }, 'name', 'too_short'],
    [{ slug: 'openai' }, 'slug', 'reserved'],
    [{ slug: 'of-another' }, 'slug', 'taken'],
    [{ payment_method_required: 'no' }, 'payment_method_required', 'wrong_type'],
  ])('%j is rejected with param %p: %s', async (body, param, issue) => {
    const { id } = await organization()
    const other = await organization()
    if (issue === 'taken') {
      await admin(`PUT /organizations/${other.id}`, { slug: 'of-another' })
    }
    expect(problem(await admin(`PUT /organizations/${id}`, body))).toEqual([400, param, issue])
  })

  test('with an unknown id are 404', async () => {
    const one = '/organizations/org_none'
    const requests = [`GET ${one}`, `PUT ${one}`, `DELETE ${one}`]
    for (const request of requests) {
      const body = request.startsWith('PUT') ? { name: 'Some name' } : undefined
      expect((await admin(request, body)).error?.code).toBe('resource_not_found')
    }
  })

  test('once suspended serve no request within a second, and serve again when active', async () => {
    const made = await organization()
    await made.connection()
    const member = await made.member()
    expect(await statusOf(member)).toBe(200)
    const suspended = await admin(`PUT /organizations/${made.id}`, { status: 'suspended' })
    expect(suspended.body['status']).toBe('suspended')
    await until(member, 403)
    const path = `/api/public/organization/${String(suspended.body['slug'])}`
    expect((await sendRequest(fixture.gateway, { path, method: 'GET' })).status).toBe(404)
    await admin(`PUT /organizations/${made.id}`, { status: 'active' })
    await until(member, 200)
  })

  test('are deleted only without credit', async () => {
    const { id } = await organization()
    const credit = { organization_id: id, reason: 'test' }
    await fixture.gateway.admin('POST', '/credits/grant', { ...credit, amount: 1 })
    expect(problem(await admin(`DELETE /organizations/${id}`))).toEqual([400, null, 'wrong_state'])
    await fixture.gateway.admin('POST', '/credits/adjust', { ...credit, amount: -1 })
    expect((await admin(`DELETE /organizations/${id}`)).body).toMatchObject({ success: true })
    expect((await admin(`GET /organizations/${id}`)).status).toBe(404)
  })

  test('are 404 for other accounts', async () => {
    const { id, owner } = await organization()
    for (const request of ['GET', 'PUT', 'DELETE']) {
      const path = `/api/admin/organizations/${id}`
      const answer = await sendRequest(fixture.gateway, { path, method: request, key: owner.key })
      expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found'])
    }
  })
})
