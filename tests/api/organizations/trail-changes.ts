import { collection } from '../authorization/kind'
import { newOrganization, uniqueName } from '../../harness/organization'
import { call, idIn, type Fixture } from '../../harness/byok'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

/** A request that changes something in an organization. */
export interface Change {
  by: Customer
  ids: string[]
  body?: Json
}

type Make = (fixture: Fixture) => Promise<Change>

const scoped = (
  body: (fixture: Fixture, connection: () => Promise<string>) => Promise<Json> | Json,
) =>
  (async (fixture) => {
    const { owner: by, id, connection } = await newOrganization(fixture)
    const made = await body(fixture, async () => idIn(await connection()))
    return { by, ids: [], body: { scope: 'organization', organization_id: id, ...made } }
  }) satisfies Make

/** A view that the managers of an organization share. */
const sharedView: Make = async (fixture) => {
  const { owner: by, id } = await newOrganization(fixture)
  const body = { name: 'Ours', parameters: {}, organization_id: id }
  return { by, ids: [idIn(await call(fixture.gateway, by, 'POST /billing/views', body))] }
}

/** How to change what the matrix's own requests (`tests/api/authorization`) do not change. */
export const changes: Readonly<Record<string, Make>> = {
  'POST /api/organizations': async (fixture) => ({
    by: await fixture.newCustomer(),
    ids: [],
    body: { name: uniqueName('Company') },
  }),
  'PUT /api/organizations/:id': async (fixture) => {
    const { owner: by, id } = await newOrganization(fixture)
    return { by, ids: [id], body: { is_public: false, description: 'Ours.' } }
  },
  'POST /api/organizations/:id/join': async (fixture) => ({
    by: await fixture.newCustomer(),
    ids: [(await newOrganization(fixture)).id],
    body: {},
  }),
  'PUT /api/organizations/:id/members/:user_id': async (fixture) => {
    const { owner: by, id, member } = await newOrganization(fixture)
    return { by, ids: [id, (await member()).userId], body: { role: 'developer' } }
  },
  'POST /api/organizations/:id/members/invite/bulk': async (fixture) => {
    const { owner: by, id } = await newOrganization(fixture)
    return { by, ids: [id], body: { invitations: [{ email: 'bulk@example.com' }] } }
  },
  'POST /api/connections': scoped(({ upstream }) => ({
    name: 'Ours',
    provider: 'fake',
    api_key: 'sk-ours-0123456789',
    endpoint_url: upstream.url,
  })),
  'POST /api/gateways': scoped(() => ({ name: 'Ours' })),
  'POST /api/connection-pools': scoped(async (_fixture, connection) => ({
    name: 'Both',
    provider: 'fake',
    connection_ids: [await connection()],
  })),
  'PUT /api/connections/:id': async (fixture) => {
    const { owner: by, connection } = await newOrganization(fixture)
    return { by, ids: [idIn(await connection())], body: { name: 'Renamed' } }
  },
  'PUT /api/connections/:id/models/pricing': async (fixture) => {
    const { owner: by, connection } = await newOrganization(fixture)
    const id = idIn(await connection())
    fixture.upstream.answer = () => Response.json({ object: 'list', data: [{ id: 'mine' }] })
    await call(fixture.gateway, by, `POST /connections/${id}/test`)
    return { by, ids: [id], body: { model: 'fake/mine', pricing: { input: 1, output: 4 } } }
  },
  'PUT /api/organizations/:id/audit-destinations/:destination_id': async (fixture) => {
    const { owner: by, id } = await newOrganization(fixture)
    const body = { name: 'SIEM', kind: 'webhook', url: 'https://siem.example.com/in' }
    const made = await call(
      fixture.gateway,
      by,
      `POST /organizations/${id}/audit-destinations`,
      body,
    )
    return { by, ids: [id, idIn(made)], body: { enabled: false } }
  },
  'POST /api/organizations/:id/notification-destinations/:destination_id/rotate-secret': async (
    fixture,
  ) => {
    const { owner: by, id } = await newOrganization(fixture)
    const body = { name: 'Operations', kind: 'webhook', url: fixture.upstream.url }
    const path = `POST /organizations/${id}/notification-destinations`
    return { by, ids: [id, idIn(await call(fixture.gateway, by, path, body))] }
  },
  'POST /api/user/model-collections': scoped(collection),
  'PUT /api/billing/company': async (fixture) => {
    const { owner: by, id } = await newOrganization(fixture)
    return { by, ids: [], body: { name: 'Ours Ltd', organization_id: id } }
  },
  'PUT /api/billing/views/:view_id': async (fixture) => {
    const { by, ids } = await sharedView(fixture)
    return { by, ids, body: { name: 'Renamed' } }
  },
  'DELETE /api/billing/views/:view_id': (fixture) => sharedView(fixture),
  'POST /api/billing/views': async (fixture) => {
    const { owner: by, id } = await newOrganization(fixture)
    return { by, ids: [], body: { name: 'Ours', parameters: {}, organization_id: id } }
  },
  'POST /api/billing/checkout': async (fixture) => {
    const { owner: by, id } = await newOrganization(fixture)
    return { by, ids: [], body: { amount: 20, organization_id: id } }
  },
}

/** Routes that change nothing in an organization though they could be thought to, and why. */
export const unrecordedRoutes: Readonly<Record<string, string>> = {
  'POST /api/connections/:id/test':
    'asks the provider; what it notes of its health, requests note too',
  'POST /api/organizations/:id/notification-destinations/:destination_id/test':
    'sends a test event; deliveries are listed with the destination',
  'POST /api/organizations/:id/notification-destinations/:destination_id/deliveries/:delivery_id/resend':
    'sends a delivery again; deliveries are listed with the destination',
  'POST /api/user/quota/estimate-cost': 'only counts what a request would cost',
}
