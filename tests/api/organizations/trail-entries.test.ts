import { describe, expect, test } from 'bun:test'
import { namesOf, useTrailFixture } from './trail-fixture'
import { newOrganization, type Organization } from '../../harness/organization'
import { idIn } from '../../harness/byok'
import { buy, checkout } from '../payments/fixture'
import { deliver } from '../payments/stripe-events'
import { signUp } from '../../harness/browser-session'

/** What the trail of an organization tells. */

const opened = useTrailFixture()

const newest = async (organization: Organization) => {
  const [change] = await opened().trailOf(organization, organization.owner, 'limit=1')
  return change
}

describe('recorded fields', () => {
  test('has the fields that differ, money in USD, and no address among them', async () => {
    const fixture = opened()
    const { api, trailOf } = fixture
    const one = await newOrganization(fixture)
    const { owner, path } = one
    await api(owner, `PUT ${path}`, {
      monthly_spend_limit: 12.5,
      is_public: true,
      billing_email: 'money@example.com',
      auto_approve_domains: ['example.com'],
    })
    expect(await newest(one)).toMatchObject({
      action: 'organization.changed',
      object_id: one.id,
      before: { monthly_spend_limit: null, billing_email: '[set]', auto_approve_domains: [] },
      after: {
        monthly_spend_limit: 12.5,
        billing_email: '[set]',
        auto_approve_domains: ['example.com'],
      },
    })
    expect((await newest(one))?.['after']).not.toHaveProperty('is_public')
    // What stays as it was is no change.
    const before = (await trailOf(one, owner)).length
    expect((await api(owner, `PUT ${path}`, { monthly_spend_limit: 12.5 })).status).toBe(200)
    expect(await trailOf(one, owner)).toHaveLength(before)
  })

  test('names changes of members, by whichever role they are made', async () => {
    const fixture = opened()
    const { api, trailOf, emailOf } = fixture
    const one = await newOrganization(fixture)
    const { owner, path } = one
    const joining = await fixture.newCustomer()
    const at = `${path}/members/${joining.userId}`
    await api(joining, `POST ${path}/join`, {})
    await api(owner, `PUT ${at}`, { status: 'active' })
    await api(owner, `PUT ${at}`, { role: 'admin', department: 'Research' })
    await api(owner, `PUT ${at}`, { spending_limit: 3 })
    await api(owner, `PUT ${at}`, { status: 'suspended' })
    await api(owner, `PUT ${at}`, { status: 'active' })
    await api(owner, `PUT ${at}`, { role: 'owner' })
    // From now on another owner's.
    const heir = { ...one, owner: joining }
    expect(await newest(heir)).toMatchObject({
      actor: owner.userId,
      actor_email: await emailOf(owner),
      key_id: owner.keyId,
      object_id: joining.userId,
      object_name: await emailOf(joining),
      before: { role: 'admin' },
      after: { role: 'owner', former_owner: owner.userId },
    })
    await api(owner, `DELETE ${path}/members/${owner.userId}`)
    const refused = await fixture.newCustomer()
    await api(refused, `POST ${path}/join`, {})
    await api(joining, `DELETE ${path}/members/${refused.userId}`)
    expect(namesOf(await trailOf(heir, joining))).toEqual([
      'member.refused',
      'member.asked',
      'member.left',
      'member.owner_changed',
      'member.reinstated',
      'member.suspended',
      'member.changed',
      'member.role_changed',
      'member.admitted',
      'member.asked',
      'organization.created',
    ])
  })

  test('has no secret, from any source', async () => {
    const fixture = opened()
    const { sql, api } = fixture
    const one = await newOrganization(fixture)
    const { owner } = one
    const canary = 'sk-canary-0123456789'
    const id = idIn(await one.connection({ api_key: canary, name: `Bearer ${canary}` }))
    await api(owner, `POST /connections/${id}/update-key`, { api_key: `${canary}-2` })
    expect(await newest(one)).toMatchObject({
      action: 'connection.key_replaced',
      object_id: id,
      before: null,
      after: { api_key: '[set]' },
    })
    const url = `${fixture.upstream.url}/v1`
    await api(owner, `PUT /connections/${id}`, { endpoint_url: url, api_key: `${canary}-3` })
    expect(await newest(one)).toMatchObject({ after: { endpoint_url: url, api_key: '[set]' } })
    await api(owner, `DELETE /connections/${id}`)
    expect(await newest(one)).toMatchObject({ action: 'connection.deleted', after: null })
    const rows: { text: string }[] =
      await sql`select it::text as text from organization_trail as it`
    expect(rows.filter(({ text }) => /canary/.test(text))).toEqual([])
  })

  test('is bounded, however much a change has', async () => {
    const fixture = opened()
    const { sql, api } = fixture
    const one = await newOrganization(fixture)
    const members = Array.from({ length: 100 }, () => ({ model_id: 'sandbox/echo' }))
    const models = ['echo', 'lorem', 'tools'].map((name) => ({ model_id: `sandbox/${name}` }))
    const description = 'ä'.repeat(1000)
    for (const list of [members, models]) {
      await api(one.owner, 'POST /user/model-collections', {
        name: `bounded-${list.length}`,
        display_name: 'Bounded',
        description,
        scope: 'organization',
        organization_id: one.id,
        members: list,
      })
    }
    const [{ max }] = await sql`
      select max(length(after::text)) as max from organization_trail
      where organization_id = ${one.id}`
    expect(Number(max)).toBeLessThanOrEqual(8 * 1024 + 100)
  })

  test('records that a member signed in, and that an operator made a change', async () => {
    const fixture = opened()
    const { gateway, sql } = fixture
    const email = 'signed-in-owner@example.com'
    const browser = await signUp(gateway, sql, email)
    const { body } = await browser.send('POST /api/organizations', { name: 'By a browser' })
    const id = String(body['id'])
    await gateway.admin('PUT', `/organizations/${id}`, { status: 'suspended' })
    await gateway.admin('PUT', `/organizations/${id}`, { status: 'active' })
    await gateway.admin('POST', '/credits/grant', {
      organization_id: id,
      amount: 5,
      reason: 'A gift.',
    })
    await gateway.admin('POST', '/credits/adjust', {
      organization_id: id,
      amount: -2,
      reason: 'Too much.',
    })
    const answer = await browser.send(`GET /api/organizations/${id}/audit-trail`)
    const operator = { actor: 'operator', actor_email: null, key_id: null, client_address: null }
    const transaction = { object_id: expect.stringMatching(/^txn_/) }
    expect(answer.body['changes']).toMatchObject([
      {
        ...operator,
        ...transaction,
        action: 'credit.adjusted',
        after: { amount: -2, description: 'Too much.' },
      },
      { ...operator, ...transaction, action: 'credit.granted', after: { amount: 5 } },
      { ...operator, before: { status: 'suspended' }, after: { status: 'active' } },
      { ...operator, before: { status: 'active' }, after: { status: 'suspended' } },
      { action: 'organization.created', actor_email: email, key_id: 'session' },
    ])
    // The operator's own trail has each of them as well, once.
    const { changes } = await gateway.admin('GET', `/audit-trail?object_id=${id}`)
    expect(changes).toHaveLength(4)
  })

  test('has the organization’s purchases and refunds', async () => {
    const fixture = opened()
    const { gateway, double, trailOf } = fixture
    const one = await newOrganization(fixture)
    const body = { amount: 20, organization_id: one.id }
    const paymentRef = await buy({ gateway, double }, one.owner, body)
    await deliver(gateway.url, double.refund(paymentRef, 500))
    const refused = { ...body, success_url: 'https://elsewhere.example' }
    expect((await checkout(gateway, one.owner, refused)).status).toBe(400)
    const system = { actor: 'system', actor_email: null, key_id: null, client_address: null }
    const changes = await trailOf(one, one.owner, 'limit=3')
    expect(changes).toMatchObject([
      { ...system, action: 'credit.refunded', after: { amount: -5 } },
      { ...system, action: 'credit.bought', after: { amount: 20 } },
      { actor: one.owner.userId, action: 'checkout.opened', after: { amount: 20 } },
    ])
    expect(new Set(changes.map(({ object_id: id }) => id)).size).toBe(1)
  })
})
