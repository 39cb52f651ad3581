import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { newOrganization, uniqueName, type Organization } from '../../harness/organization'
import { call, idIn, createFixture, problem, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Answer, Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

let fixture: Fixture
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  fixture = await createFixture()
  sql = await openDatabase(fixture.gateway.dataDir)
})
afterAll(async () => {
  await sql[Symbol.asyncDispose]()
  await fixture[Symbol.asyncDispose]()
})
afterEach(() => fixture.gateway.recorder.verify())

const api = (by: Customer, request: string, body?: Json) => call(fixture.gateway, by, request, body)

/** A customer, and an address that is written otherwise than it was given. */
async function addressed(permissions = ['admin']) {
  const email = `${uniqueName('guest').replace(' ', '-')}@example.com`
  const guest = await fixture.gateway.customer({ permissions }, { credit: 0, email })
  return { guest, email: email.toUpperCase().replace('EXAMPLE.COM', 'Example.com') }
}

const invite = (organization: Organization, fields: Json, by = organization.owner) =>
  api(by, `POST ${organization.path}/members/invite`, fields)
const answer = (guest: Customer, id: string, how: 'accept' | 'decline' = 'accept') =>
  api(guest, `POST /organizations/invitations/${id}/${how}`)

const list = (body: Json, name: string): Json[] => {
  const rows = body[name]
  return Array.isArray(rows) ? rows : []
}

const waiting = async (guest: Customer) =>
  list((await api(guest, 'GET /organizations/invitations')).body, 'invitations')

const expire = (id: string) =>
  sql`update invitation set expires_at = now() - interval '1 second' where id = ${id}`

const absent = (answer: Answer) =>
  expect([answer.status, answer.error.code]).toEqual([404, 'resource_not_found'])

/** Mails to an address, but for what an account is sent that an operator made. */
const invitationsTo = (address: string): Promise<{ body: string }[]> =>
  sql`select body from mail where recipient = ${address} and subject <> 'Your account is ready'`

describe('an invitation', () => {
  test('is mailed, is in the inbox, and makes an active member once it is accepted', async () => {
    const company = await newOrganization(fixture)
    const { guest, email } = await addressed()
    const begunMs = Date.now()
    const made = await invite(company, { email, role: 'developer', message: 'Come!' })
    const endsMs = Date.parse(String(made.body['expires_at']))
    expect(endsMs - 7 * 86_400_000).toBeWithin(begunMs, Date.now() + 1)
    const id = idIn(made)
    const address = email.toLowerCase()
    expect(made.body).toMatchObject({
      organization_id: company.id,
      email: address,
      role: 'developer',
      message: 'Come!',
      status: 'pending',
    })
    const text = `invites you to join ${String(made.body['organization_name'])} as developer.`
    expect(await invitationsTo(address)).toEqual([{ body: expect.stringContaining(text) }])
    const notices = await sql`select kind from notification where user_id = ${guest.userId}`
    expect([...notices]).toEqual([{ kind: 'invitation' }])
    expect(await waiting(guest)).toEqual([made.body])

    const accepted = await answer(guest, id)
    expect([accepted.status, accepted.body]).toEqual([200, { ...made.body, status: 'accepted' }])
    expect(await waiting(guest)).toEqual([])
    const seen = await api(guest, `GET ${company.path}`)
    expect(seen.body).toMatchObject({ role: 'developer', status: 'active', is_primary: true })
    // A12: once.
    expect(problem(await answer(guest, id))).toEqual([400, null, 'wrong_state'])
  })

  test('to an account that requested to join activates that membership', async () => {
    const company = await newOrganization(fixture)
    await api(company.owner, `PUT ${company.path}`, { allow_join_requests: true })
    const { guest, email } = await addressed()
    const id = idIn(await invite(company, { email, role: 'viewer' }))
    expect((await api(guest, `POST ${company.path}/join`, {})).body['status']).toBe('pending')
    expect((await answer(guest, id)).status).toBe(200)
    expect((await api(guest, `GET ${company.path}`)).body['role']).toBe('viewer')
  })

  test('A12: accepted many times at once makes one member', async () => {
    const company = await newOrganization(fixture)
    const { guest, email } = await addressed()
    const id = idIn(await invite(company, { email }))
    const answers = await Promise.all(Array.from({ length: 8 }, () => answer(guest, id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await api(guest, `GET ${company.path}`)).body['member_count']).toBe(2)
  })

  test('is 404 except for the account with the address', async () => {
    const company = await newOrganization(fixture)
    const { guest, email } = await addressed()
    const { guest: other } = await addressed()
    const id = idIn(await invite(company, { email }))
    absent(await answer(other, id))
    absent(await answer(other, id, 'decline'))
    absent(await answer(company.owner, id))
    absent(await answer(guest, 'inv_01m7zbr7rr3rrzfbtxk7716g95'))
    absent(await answer(guest, 'nonsense'))
    expect(await waiting(other)).toEqual([])
  })

  test('declined, revoked or expired creates no membership', async () => {
    const company = await newOrganization(fixture)
    const closings = {
      declined: (_id: string, guest: Customer, own: string) => answer(guest, own, 'decline'),
      revoked: (id: string) => api(company.owner, `DELETE ${company.path}/invitations/${id}`),
      expired: (id: string) => expire(id),
    }
    for (const [status, close] of Object.entries(closings)) {
      const { guest, email } = await addressed()
      const id = idIn(await invite(company, { email }))
      await close(id, guest, id)
      expect(problem(await answer(guest, id))).toEqual([400, null, 'wrong_state'])
      expect(await waiting(guest)).toEqual([])
      const found = await api(company.owner, `GET ${company.path}/invitations?status=${status}`)
      expect(list(found.body, 'invitations').map((one) => one['id'])).toEqual([id])
      // The address is free for another.
      idIn(await invite(company, { email }))
    }
  })

  test('is sent again for 7 days anew, also once it has expired', async () => {
    const company = await newOrganization(fixture)
    const { guest, email } = await addressed()
    const id = idIn(await invite(company, { email }))
    await expire(id)
    const path = `${company.path}/invitations/${id}`
    const renewed = await api(company.owner, `POST ${path}/resend`)
    expect([renewed.status, renewed.body['status']]).toEqual([200, 'pending'])
    expect(Date.parse(String(renewed.body['expires_at']))).toBeGreaterThan(Date.now())
    expect(await invitationsTo(email.toLowerCase())).toHaveLength(2)
    await answer(guest, id)
    const late = await api(company.owner, `POST ${path}/resend`)
    expect(problem(late)).toEqual([400, null, 'wrong_state'])
    const revoked = await api(company.owner, `DELETE ${path}`)
    expect(problem(revoked)).toEqual([400, null, 'wrong_state'])
  })
})

describe('inviters', () => {
  test('names the invited address and the role', async () => {
    const company = await newOrganization(fixture)
    const bad: [Json, string, string][] = [
      [{}, 'email', 'required'],
      [{ email: 'nobody' }, 'email', 'bad_format'],
      [{ email: `${'a'.repeat(250)}@example.com` }, 'email', 'too_long'],
      [{ email: 'a@example.com', role: 'owner' }, 'role', 'unknown_value'],
      [{ email: 'a@example.com', message: 'x'.repeat(501) }, 'message', 'too_long'],
    ]
    for (const [fields, param, issue] of bad) {
      expect(problem(await invite(company, fields))).toEqual([400, param, issue])
    }
  })

  test('rejects a second invitation, and one of a member', async () => {
    const company = await newOrganization(fixture)
    const { guest, email } = await addressed()
    const id = idIn(await invite(company, { email }))
    const again = { email: email.toLowerCase() }
    expect(problem(await invite(company, again))).toEqual([400, 'email', 'duplicate'])
    await answer(guest, id)
    expect(problem(await invite(company, again))).toEqual([400, 'email', 'duplicate'])
  })

  test('is an owner or an admin; an admin cannot invite admins', async () => {
    const company = await newOrganization(fixture)
    const admin = await company.member('admin')
    const refused = await invite(company, { email: 'x@example.com', role: 'admin' }, admin)
    expect([refused.status, refused.error.details]).toEqual([
      403,
      { required: ['owner'], current: ['admin'] },
    ])
    const id = idIn(await invite(company, { email: 'y@example.com', role: 'admin' }))
    const path = `${company.path}/invitations/${id}`
    expect((await api(admin, `DELETE ${path}`)).status).toBe(403)
    expect((await api(admin, `POST ${path}/resend`)).status).toBe(403)
    idIn(await invite(company, { email: 'z@example.com' }, admin))
    for (const role of ['developer', 'viewer', 'member']) {
      const member = await company.member(role)
      const lower = await invite(company, { email: 'w@example.com' }, member)
      expect([lower.status, lower.error.details?.['current']]).toEqual([403, [role]])
      expect((await api(member, `GET ${company.path}/invitations`)).status).toBe(403)
      expect((await api(member, `DELETE ${path}`)).status).toBe(403)
    }
  })

  test('belongs to the organization: others receive 404', async () => {
    const company = await newOrganization(fixture)
    const other = await newOrganization(fixture)
    const id = idIn(await invite(company, { email: 'x@example.com' }))
    const by = other.owner
    absent(await invite(company, { email: 'y@example.com' }, by))
    absent(
      await api(by, `POST ${company.path}/members/invite/bulk`, {
        invitations: [{ email: 'y@example.com' }],
      }),
    )
    absent(await api(by, `GET ${company.path}/invitations`))
    for (const path of [company.path, other.path]) {
      absent(await api(by, `DELETE ${path}/invitations/${id}`))
      absent(await api(by, `POST ${path}/invitations/${id}/resend`))
    }
  })

  test('needs a key with the permission "admin"; the own list "read"', async () => {
    const { guest } = await addressed(['read', 'write'])
    const id = 'org_01m7zbr7rr3rrzfbtxk7716g95'
    const own = 'inv_01m7zbr7rr3rrzfbtxk7716g95'
    const requests = [
      `POST /organizations/${id}/members/invite`,
      `POST /organizations/${id}/members/invite/bulk`,
      `GET /organizations/${id}/invitations`,
      `POST /organizations/${id}/invitations/${own}/resend`,
      `DELETE /organizations/${id}/invitations/${own}`,
      `POST /organizations/invitations/${own}/accept`,
      `POST /organizations/invitations/${own}/decline`,
    ]
    for (const request of requests) {
      const refused = await api(guest, request, request.startsWith('POST') ? {} : undefined)
      expect([refused.status, refused.error.details?.['required']]).toEqual([403, ['admin']])
    }
    expect(await waiting(guest)).toEqual([])
  })

  test('J09: has 20 mails a day, over all channels', async () => {
    const company = await newOrganization(fixture)
    const item = (index: number) => ({ email: `many-${index}-${company.id}@example.com` })
    const first = idIn(await invite(company, item(0)))
    for (let sent = 1; sent < 18; sent++) idIn(await invite(company, item(sent)))
    const bulk = await api(company.owner, `POST ${company.path}/members/invite/bulk`, {
      invitations: [item(18), { email: 'nobody' }, item(0), item(19), item(20)],
    })
    expect(bulk.status).toBe(201)
    expect([bulk.body['created'], bulk.body['failed']]).toEqual([2, 3])
    expect(list(bulk.body, 'errors').map(({ index, param }) => [index, param])).toEqual([
      [1, 'email'],
      [2, 'email'],
      [4, null],
    ])
    const refused = await invite(company, item(21))
    expect([refused.status, refused.error.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(refused.error.details).toMatchObject({ limit: 20, window: 86_400 })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000)
    const again = await api(company.owner, `POST ${company.path}/invitations/${first}/resend`)
    expect(again.status).toBe(429)
    const none = await api(company.owner, `POST ${company.path}/members/invite/bulk`, {
      invitations: [item(22)],
    })
    expect(problem(none)).toEqual([400, 'invitations', 'limit_reached'])
    await sql`
      update invitation_mail set sent_at = sent_at - interval '1 day'
      where user_id = ${company.owner.userId}`
    idIn(await invite(company, item(21)))
  })

  test('sends 1 to 100 at once', async () => {
    const company = await newOrganization(fixture)
    const bulk = (invitations: unknown) =>
      api(company.owner, `POST ${company.path}/members/invite/bulk`, { invitations })
    expect(problem(await bulk([]))).toEqual([400, 'invitations', 'empty'])
    expect(problem(await bulk(Array(101).fill('x')))).toEqual([400, 'invitations', 'too_many'])
    expect(problem(await bulk('all'))).toEqual([400, 'invitations', 'wrong_type'])
    expect(problem(await bulk([{}, 'nobody']))).toEqual([400, 'invitations', 'required'])
  })
})

describe('the member limit', () => {
  test('applies to invitations, and to concurrent acceptances', async () => {
    const company = await newOrganization(fixture)
    await sql`update organization set member_limit = 3 where id = ${company.id}`
    const guests = await Promise.all(Array.from({ length: 5 }, () => addressed()))
    const ids: string[] = []
    for (const { email } of guests) ids.push(idIn(await invite(company, { email })))
    const answers = await Promise.all(
      guests.map(({ guest }, index) => answer(guest, ids[index] ?? '')),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expect(problem(refused)).toEqual([400, null, 'limit_reached'])
    }
    const late = problem(await invite(company, { email: 'late@example.com' }))
    expect(late).toEqual([400, null, 'limit_reached'])
  })
})
