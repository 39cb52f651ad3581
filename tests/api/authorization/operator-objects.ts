import { z } from 'zod'
import { collection, unusedName, type Kind } from './kind'
import { invoice, requestLog } from './account-objects'
import { newOrganization } from '../../harness/organization'
import { call, idIn, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** An object of the operator alone. */
const operated = (request: string, body: () => Json): Kind => ({
  async make(fixture) {
    const [method = '', path = ''] = request.split(' ')
    const { id } = await fixture.gateway.admin(method, path, body())
    return { owner: await fixture.newCustomer(), ids: [String(id)] }
  },
})

const destination = { kind: 'webhook', url: 'https://siem.example.com/in', enabled: false }
const maxDestinations = 10

/** Deletes the destinations of earlier tests before there are too many. */
async function makeRoomForDestination({ gateway }: Fixture): Promise<void> {
  const { destinations } = await gateway.admin('GET', '/audit-destinations')
  const existing = z.array(z.object({ id: z.string() })).parse(destinations)
  if (existing.length < maxDestinations - 1) return
  for (const { id } of existing) await gateway.admin('DELETE', `/audit-destinations/${id}`)
}

const newKey = async ({ gateway }: Fixture, { userId }: Customer) => {
  const { id } = await gateway.admin('POST', `/users/${userId}/keys`, { name: 'Another' })
  return String(id)
}

/** What a customer asks, and the operator decides. */
const requested = (request: string, body: Json): Kind => ({
  async make({ gateway }) {
    const { plans } = await gateway.admin('GET', '/plans?search=free')
    const [plan] = Array.isArray(plans) ? plans : []
    const owner = await gateway.customer({ permissions: ['admin'] }, { plan_id: plan.id })
    return { owner, ids: [idIn(await call(gateway, owner, request, body))] }
  },
})

/** What only operators name; `kinds` of `objects.ts` says what this is for. */
export const operatorKinds: Readonly<Record<string, readonly Kind[]>> = {
  '/api/admin/users/:id': [
    operated('POST /users', () => ({
      email: `${unusedName('some')}@example.com`,
    })),
  ],
  '/api/admin/users/:id/keys/:key_id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        return { owner, ids: [owner.userId, await newKey(fixture, owner)] }
      },
    },
  ],
  '/api/admin/organizations/:id': [
    {
      async make(fixture) {
        const { owner, id } = await newOrganization(fixture)
        return { owner, ids: [id] }
      },
    },
  ],
  '/api/admin/scim-directories/:id': [
    operated('POST /scim-directories', () => ({ name: 'Some', domains: ['example.com'] })),
  ],
  '/api/admin/plans/:id': [operated('POST /plans', () => ({ name: unusedName('plan') }))],
  '/api/admin/providers/:id': [
    operated('POST /providers', () => ({
      key: unusedName('maker'),
      name: 'Maker',
      adapter: 'openai',
      base_url: 'http://127.0.0.1:9',
    })),
  ],
  '/api/admin/models/:id': [
    {
      ...operated('POST /models', () => ({
        id: `fake/${unusedName('model')}`,
        name: 'Some',
        category: 'chat',
        pricing: { input: 1, output: 4 },
      })),
      unknown: 'fake/never',
    },
  ],
  '/api/admin/connections/:id': [
    operated('POST /connections', () => ({
      name: 'Ours',
      provider: 'fake',
      api_key: 'sk-0123456789',
      endpoint_url: 'http://127.0.0.1:9',
    })),
  ],
  '/api/admin/quota-requests/:id': [
    requested('POST /user/quota/request-increase', {
      quota_type: 'requests_per_minute',
      requested_limit: 600,
      reason: 'We are growing.',
    }),
  ],
  '/api/admin/tickets/:id': [
    requested('POST /support/tickets', { subject: 'A question', description: 'Why?' }),
  ],
  '/api/admin/request-logs/:id': [requestLog],
  '/api/admin/invoices/:id': [invoice],
  '/api/admin/collections/:id': [operated('POST /collections', collection)],
  '/api/admin/audit-destinations/:id': [
    {
      async make(fixture) {
        await makeRoomForDestination(fixture)
        const body = { ...destination, name: unusedName('SIEM') }
        const { id } = await fixture.gateway.admin('POST', '/audit-destinations', body)
        return { owner: await fixture.newCustomer(), ids: [String(id)] }
      },
    },
  ],
  '/api/admin/legal-holds/:id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        const body = { subject_id: owner.userId, reason: 'A test.' }
        const { id } = await fixture.gateway.admin('POST', '/legal-holds', body)
        return { owner, ids: [String(id)] }
      },
    },
  ],
}
