import { collection, ownedKind, type Kind, type CreatedObject } from './kind'
import { accountKinds, insertDelivery } from './account-objects'
import { operatorKinds } from './operator-objects'
import { newOrganization, uniqueName } from '../../harness/organization'
import { call, idIn, type Fixture } from '../../harness/byok'
import { sendRequest, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

const connection = (fixture: Fixture): Json => ({
  name: 'Mine',
  provider: 'fake',
  api_key: 'sk-fake-0123456789',
  endpoint_url: fixture.upstream.url,
})

const pooled = { name: 'Both', provider: 'fake' }

const ofOrganization = (
  make: (fixture: Fixture, owner: Customer, id: string) => Promise<string[]>,
) => ({
  async make(fixture: Fixture): Promise<CreatedObject> {
    const organization = await newOrganization(fixture)
    const { owner, id } = organization
    return {
      owner,
      ids: await make(fixture, owner, id),
      viewer: await organization.member('viewer'),
    }
  },
})

/** Creates a destination of an organization's notifications. Resolves with its id. */
const notifiedBy = async (fixture: Fixture, owner: Customer, id: string): Promise<string> => {
  const body = { name: 'Operations', kind: 'slack', url: fixture.upstream.url }
  const path = `POST /organizations/${id}/notification-destinations`
  return idIn(await call(fixture.gateway, owner, path, body))
}

const conversationOf = async (fixture: Fixture, { key }: Customer): Promise<string> => {
  const body = { items: [{ role: 'user', content: 'Hello!' }] }
  const made = await sendRequest(fixture.gateway, { path: '/v1/conversations', key, body })
  return String(made.body['id'])
}

/**
 * How to make what paths name, by the path to its id, or by the route where it is another. A route whose path holds an id that this table
 * cannot make fails the matrix: add it here, once for each kind of owner that it can have.
 */
export const kinds: Readonly<Record<string, readonly Kind[]>> = {
  '/v1/models/:model_id': [
    {
      make: async (fixture) => ({ owner: await fixture.newCustomer(), ids: ['sandbox/echo'] }),
      unknown: 'sandbox/never',
      isPublic: true,
    },
  ],
  '/v1/responses/:response_id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        const body = { model: 'sandbox/echo', input: 'Hello!', background: true }
        const { key } = owner
        const answer = await sendRequest(fixture.gateway, { path: '/v1/responses', key, body })
        return { owner, ids: [String(answer.body['id'])] }
      },
    },
  ],
  '/v1/conversations/:conversation_id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        return { owner, ids: [await conversationOf(fixture, owner)] }
      },
    },
  ],
  '/v1/conversations/:conversation_id/items/:item_id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        const { key } = owner
        const id = await conversationOf(fixture, owner)
        const path = `/v1/conversations/${id}/items`
        const listed = await sendRequest(fixture.gateway, { method: 'GET', path, key })
        return { owner, ids: [id, String(listed.body['first_id'])] }
      },
    },
  ],
  '/api/public/organization/:slug': [
    {
      async make(fixture) {
        const { owner, id } = await newOrganization(fixture, { is_public: true })
        const { body } = await call(fixture.gateway, owner, `GET /organizations/${id}`)
        return { owner, ids: [String(body['slug'])] }
      },
      unknown: 'nobody-at-all',
      isPublic: true,
    },
  ],
  '/api/connections/:id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        const answer = await call(fixture.gateway, owner, 'POST /connections', connection(fixture))
        return { owner, ids: [idIn(answer)] }
      },
    },
    ofOrganization(async (fixture, owner, organization_id) => {
      const body = { ...connection(fixture), scope: 'organization', organization_id }
      return [idIn(await call(fixture.gateway, owner, 'POST /connections', body))]
    }),
  ],
  '/api/connection-pools/:id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        const api = (request: string, body: Json) => call(fixture.gateway, owner, request, body)
        const connection_ids = [idIn(await api('POST /connections', connection(fixture)))]
        const pool = await api('POST /connection-pools', { ...pooled, connection_ids })
        return { owner, ids: [idIn(pool)] }
      },
    },
    ofOrganization(async (fixture, owner, organization_id) => {
      const api = (request: string, body: Json) => call(fixture.gateway, owner, request, body)
      const scoped = { scope: 'organization', organization_id }
      const body = { ...connection(fixture), ...scoped }
      const connection_ids = [idIn(await api('POST /connections', body))]
      return [idIn(await api('POST /connection-pools', { ...pooled, ...scoped, connection_ids }))]
    }),
  ],
  // Those of organizations are listed by organization alone.
  '/api/billing/views/:view_id': [
    ownedKind('POST /billing/views', () => ({ name: 'Mine', parameters: {} })),
  ],
  '/api/gateways/:id': [
    ownedKind('POST /gateways', () => ({ name: 'Mine' })),
    ofOrganization(async (fixture, owner, organization_id) => {
      const body = { name: 'Ours', scope: 'organization', organization_id }
      return [idIn(await call(fixture.gateway, owner, 'POST /gateways', body))]
    }),
  ],
  '/api/organizations/:id': [ofOrganization(async (_fixture, _owner, id) => [id])],
  // Every account may ask to join a public one.
  'POST /api/organizations/:id/join': [
    {
      async make(fixture) {
        const { owner, id } = await newOrganization(fixture, { is_public: false })
        return { owner, ids: [id] }
      },
    },
  ],
  '/api/organizations/:id/members/:user_id': [
    {
      async make(fixture) {
        const organization = await newOrganization(fixture)
        const { owner, id, member } = organization
        return { owner, ids: [id, (await member()).userId], viewer: await member('viewer') }
      },
    },
  ],
  '/api/organizations/:id/scim-directories/:directory_id': [
    ofOrganization(async (fixture, owner, id) => {
      const path = `POST /organizations/${id}/scim-directories`
      return [id, idIn(await call(fixture.gateway, owner, path, { name: 'Ours' }))]
    }),
  ],
  '/api/organizations/:id/audit-destinations/:destination_id': [
    ofOrganization(async (fixture, owner, id) => {
      const body = { name: 'SIEM', kind: 'webhook', url: 'https://siem.example.com/in' }
      const made = await call(
        fixture.gateway,
        owner,
        `POST /organizations/${id}/audit-destinations`,
        { ...body, enabled: false },
      )
      return [id, idIn(made)]
    }),
  ],
  '/api/organizations/:id/notification-destinations/:destination_id': [
    ofOrganization(async (fixture, owner, id) => [id, await notifiedBy(fixture, owner, id)]),
  ],
  '/api/organizations/:id/notification-destinations/:destination_id/deliveries/:delivery_id': [
    ofOrganization(async (fixture, owner, id) => {
      const destinationId = await notifiedBy(fixture, owner, id)
      return [id, destinationId, await insertDelivery(fixture, destinationId)]
    }),
  ],
  '/api/user/model-collections/:id': [
    ownedKind('POST /user/model-collections', collection),
    ofOrganization(async (fixture, owner, organization_id) => {
      const body = { ...collection(), scope: 'organization', organization_id }
      return [idIn(await call(fixture.gateway, owner, 'POST /user/model-collections', body))]
    }),
  ],
  '/api/user/model-mappings/:id': [
    ownedKind('POST /user/model-mappings', () => ({
      source_pattern: uniqueName('some'),
      target_model: 'sandbox/echo',
    })),
  ],
  ...accountKinds,
  ...operatorKinds,
}
