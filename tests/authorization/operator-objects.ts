import { collection, unusedName, type Kind } from './kind'
import { newOrganization } from '../connections/organization'
import { call, idIn, type Stage } from '../connections/stage'
import type { Json } from '../faults/asking'
import type { Customer } from '../rig'

/** What the operator makes; it is nobody else's. */
const operated = (request: string, body: () => Json): Kind => ({
  async make(stage) {
    const [method = '', path = ''] = request.split(' ')
    const { id } = await stage.gateway.admin(method, path, body())
    return { owner: await stage.somebody(), ids: [String(id)] }
  },
})

const newKey = async ({ gateway }: Stage, { userId }: Customer) => {
  const { id } = await gateway.admin('POST', `/users/${userId}/keys`, { name: 'Another' })
  return String(id)
}

/** What a customer asks, and the operator decides. */
const asked = (request: string, body: Json): Kind => ({
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
      async make(stage) {
        const owner = await stage.somebody()
        return { owner, ids: [owner.userId, await newKey(stage, owner)] }
      },
    },
  ],
  '/api/admin/organizations/:id': [
    {
      async make(stage) {
        const { owner, id } = await newOrganization(stage)
        return { owner, ids: [id] }
      },
    },
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
    asked('POST /user/quota/request-increase', {
      quota_type: 'requests_per_minute',
      requested_limit: 600,
      reason: 'We are growing.',
    }),
  ],
  '/api/admin/tickets/:id': [
    asked('POST /support/tickets', { subject: 'A question', description: 'Why?' }),
  ],
  '/api/admin/collections/:id': [operated('POST /collections', collection)],
}
