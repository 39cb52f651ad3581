import { collection, owned, type Kind, type Made } from './kind'
import { accountKinds } from './account-objects'
import { operatorKinds } from './operator-objects'
import { newOrganization, unused } from '../connections/organization'
import { call, idIn, type Stage } from '../connections/stage'
import { ask, type Json } from '../faults/asking'
import type { Customer } from '../rig'

const connection = (stage: Stage): Json => ({
  name: 'Mine',
  provider: 'fake',
  api_key: 'sk-fake-0123456789',
  endpoint_url: stage.upstream.url,
})

const pooled = { name: 'Both', provider: 'fake' }

const ofOrganization = (
  make: (stage: Stage, owner: Customer, id: string) => Promise<string[]>,
) => ({
  async make(stage: Stage): Promise<Made> {
    const organization = await newOrganization(stage)
    const { owner, id } = organization
    return { owner, ids: await make(stage, owner, id), viewer: await organization.member('viewer') }
  },
})

const conversationOf = async (stage: Stage, { key }: Customer): Promise<string> => {
  const body = { items: [{ role: 'user', content: 'Hello!' }] }
  const made = await ask(stage.gateway, { path: '/v1/conversations', key, body })
  return String(made.body['id'])
}

/**
 * How to make what paths name, by the path to its id, or by the route where it is another. A route whose path holds an id that this table
 * cannot make fails the matrix: add it here, once for each kind of owner that it can have.
 */
export const kinds: Readonly<Record<string, readonly Kind[]>> = {
  '/v1/models/:model_id': [
    {
      make: async (stage) => ({ owner: await stage.somebody(), ids: ['sandbox/echo'] }),
      unknown: 'sandbox/never',
      isEverybodys: true,
    },
  ],
  '/v1/responses/:response_id': [
    {
      async make(stage) {
        const owner = await stage.somebody()
        const body = { model: 'sandbox/echo', input: 'Hello!', background: true }
        const { key } = owner
        const answer = await ask(stage.gateway, { path: '/v1/responses', key, body })
        return { owner, ids: [String(answer.body['id'])] }
      },
    },
  ],
  '/v1/conversations/:conversation_id': [
    {
      async make(stage) {
        const owner = await stage.somebody()
        return { owner, ids: [await conversationOf(stage, owner)] }
      },
    },
  ],
  '/v1/conversations/:conversation_id/items/:item_id': [
    {
      async make(stage) {
        const owner = await stage.somebody()
        const { key } = owner
        const id = await conversationOf(stage, owner)
        const path = `/v1/conversations/${id}/items`
        const listed = await ask(stage.gateway, { method: 'GET', path, key })
        return { owner, ids: [id, String(listed.body['first_id'])] }
      },
    },
  ],
  '/api/public/organization/:slug': [
    {
      async make(stage) {
        const { owner, id } = await newOrganization(stage, { is_public: true })
        const { body } = await call(stage.gateway, owner, `GET /organizations/${id}`)
        return { owner, ids: [String(body['slug'])] }
      },
      unknown: 'nobody-at-all',
      isEverybodys: true,
    },
  ],
  '/api/connections/:id': [
    {
      async make(stage) {
        const owner = await stage.somebody()
        const answer = await call(stage.gateway, owner, 'POST /connections', connection(stage))
        return { owner, ids: [idIn(answer)] }
      },
    },
    ofOrganization(async (stage, owner, organization_id) => {
      const body = { ...connection(stage), scope: 'organization', organization_id }
      return [idIn(await call(stage.gateway, owner, 'POST /connections', body))]
    }),
  ],
  '/api/connection-pools/:id': [
    {
      async make(stage) {
        const owner = await stage.somebody()
        const api = (request: string, body: Json) => call(stage.gateway, owner, request, body)
        const connection_ids = [idIn(await api('POST /connections', connection(stage)))]
        const pool = await api('POST /connection-pools', { ...pooled, connection_ids })
        return { owner, ids: [idIn(pool)] }
      },
    },
    ofOrganization(async (stage, owner, organization_id) => {
      const api = (request: string, body: Json) => call(stage.gateway, owner, request, body)
      const scoped = { scope: 'organization', organization_id }
      const body = { ...connection(stage), ...scoped }
      const connection_ids = [idIn(await api('POST /connections', body))]
      return [idIn(await api('POST /connection-pools', { ...pooled, ...scoped, connection_ids }))]
    }),
  ],
  '/api/gateways/:id': [
    owned('POST /gateways', () => ({ name: 'Mine' })),
    ofOrganization(async (stage, owner, organization_id) => {
      const body = { name: 'Ours', scope: 'organization', organization_id }
      return [idIn(await call(stage.gateway, owner, 'POST /gateways', body))]
    }),
  ],
  '/api/organizations/:id': [ofOrganization(async (_stage, _owner, id) => [id])],
  // Whoever likes asks a public one.
  'POST /api/organizations/:id/join': [
    {
      async make(stage) {
        const { owner, id } = await newOrganization(stage, { is_public: false })
        return { owner, ids: [id] }
      },
    },
  ],
  '/api/organizations/:id/members/:user_id': [
    {
      async make(stage) {
        const organization = await newOrganization(stage)
        const { owner, id, member } = organization
        return { owner, ids: [id, (await member()).userId], viewer: await member('viewer') }
      },
    },
  ],
  '/api/user/model-collections/:id': [
    owned('POST /user/model-collections', collection),
    ofOrganization(async (stage, owner, organization_id) => {
      const body = { ...collection(), scope: 'organization', organization_id }
      return [idIn(await call(stage.gateway, owner, 'POST /user/model-collections', body))]
    }),
  ],
  '/api/user/model-mappings/:id': [
    owned('POST /user/model-mappings', () => ({
      source_pattern: unused('some'),
      target_model: 'sandbox/echo',
    })),
  ],
  ...accountKinds,
  ...operatorKinds,
}
