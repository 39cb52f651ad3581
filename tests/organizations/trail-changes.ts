import { collection } from '../authorization/kind'
import { newOrganization, unused } from '../connections/organization'
import { call, idIn, type Stage } from '../connections/stage'
import type { Json } from '../faults/asking'
import type { Customer } from '../rig'

/** A request that changes something in an organization. */
export interface Change {
  by: Customer
  ids: string[]
  body?: Json
}

type Make = (stage: Stage) => Promise<Change>

const scoped = (body: (stage: Stage, connection: () => Promise<string>) => Promise<Json> | Json) =>
  (async (stage) => {
    const { owner: by, id, connection } = await newOrganization(stage)
    const made = await body(stage, async () => idIn(await connection()))
    return { by, ids: [], body: { scope: 'organization', organization_id: id, ...made } }
  }) satisfies Make

/** How to change what the matrix's own requests (`tests/authorization`) do not change. */
export const changes: Readonly<Record<string, Make>> = {
  'POST /api/organizations': async (stage) => ({
    by: await stage.somebody(),
    ids: [],
    body: { name: unused('Company') },
  }),
  'PUT /api/organizations/:id': async (stage) => {
    const { owner: by, id } = await newOrganization(stage)
    return { by, ids: [id], body: { is_public: false, description: 'Ours.' } }
  },
  'POST /api/organizations/:id/join': async (stage) => ({
    by: await stage.somebody(),
    ids: [(await newOrganization(stage)).id],
    body: {},
  }),
  'PUT /api/organizations/:id/members/:user_id': async (stage) => {
    const { owner: by, id, member } = await newOrganization(stage)
    return { by, ids: [id, (await member()).userId], body: { role: 'developer' } }
  },
  'POST /api/organizations/:id/members/invite/bulk': async (stage) => {
    const { owner: by, id } = await newOrganization(stage)
    return { by, ids: [id], body: { invitations: [{ email: 'bulk@example.com' }] } }
  },
  'POST /api/connections': scoped(({ upstream }) => ({
    name: 'Ours',
    provider: 'fake',
    api_key: 'sk-ours-0123456789',
    endpoint_url: upstream.url,
  })),
  'POST /api/gateways': scoped(() => ({ name: 'Ours' })),
  'POST /api/connection-pools': scoped(async (_stage, connection) => ({
    name: 'Both',
    provider: 'fake',
    connection_ids: [await connection()],
  })),
  'PUT /api/connections/:id': async (stage) => {
    const { owner: by, connection } = await newOrganization(stage)
    return { by, ids: [idIn(await connection())], body: { name: 'Renamed' } }
  },
  'PUT /api/connections/:id/models/pricing': async (stage) => {
    const { owner: by, connection } = await newOrganization(stage)
    const id = idIn(await connection())
    stage.upstream.answer = () => Response.json({ object: 'list', data: [{ id: 'mine' }] })
    await call(stage.gateway, by, `POST /connections/${id}/test`)
    return { by, ids: [id], body: { model: 'fake/mine', pricing: { input: 1, output: 4 } } }
  },
  'POST /api/user/model-collections': scoped(collection),
  'POST /api/billing/checkout': async (stage) => {
    const { owner: by, id } = await newOrganization(stage)
    return { by, ids: [], body: { amount: 20, organization_id: id } }
  },
}

/** Routes that change nothing in an organization though they could be thought to, and why. */
export const unrecorded: Readonly<Record<string, string>> = {
  'POST /api/connections/:id/test':
    'asks the provider; what it notes of its health, requests note too',
  'POST /api/user/quota/estimate-cost': 'only counts what a request would cost',
}
