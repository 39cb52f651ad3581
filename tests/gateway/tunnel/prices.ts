import { expect } from 'bun:test'
import type { Agent } from '../../harness/tunnel-agent'
import { createGatewayFixture, type GatewayFixture, type CreatedGateway } from './fixture'
import { newOrganization, type Organization } from '../../harness/organization'
import type { Answer, Json } from '../../harness/http'
import { runCommand } from '../../harness/run-command'
import type { Customer } from '../../harness/server'

/** An organization whose gateway serves `fake/mine`, which is in no catalogue, to those who pay. */
export interface PricedFixture extends GatewayFixture {
  organization: Organization
  gatewayOf: CreatedGateway
  connectionId: string
  serving: Agent
  /** Adds a customer with a credit of their own. */
  member: (credit?: number) => Promise<Customer>
  /** Sets what `fake/mine` costs. */
  price: (pricing: Json | null, fields?: Json) => Promise<Answer>
  payBy: (mode: 'org_pays' | 'member_pays') => Promise<Answer>
  balance: (of: Customer) => Promise<number>
  pool: () => Promise<number>
  operator: (fields: Json) => Promise<Json>
  /** The ledger is in order. */
  audited: () => Promise<void>
}

export const feePercent = 2.75

export async function createPricedFixture(): Promise<PricedFixture> {
  const fixture = await createGatewayFixture()
  const { admin } = fixture.gateway
  await admin('PUT', '/config', {
    platform_fee_percent: feePercent,
    rates: { api_requests_per_minute: 100_000 },
  })
  const organization = await newOrganization(fixture)
  const { owner, id, path } = organization
  const gatewayOf = await fixture.createGateway(owner, {
    scope: 'organization',
    organization_id: id,
  })
  const serving = await fixture.agent(gatewayOf).ready()
  const list = await fixture.api(owner, 'GET /connections?gateway_type=3')
  const [connection] = Array.isArray(list.body['connections']) ? list.body['connections'] : []
  const connectionId = String(connection.id)
  const payBy = (billing_mode: string) =>
    fixture.api(owner, `PUT /connections/${connectionId}`, { billing_mode })
  await payBy('member_pays')
  return {
    ...fixture,
    organization,
    gatewayOf,
    connectionId,
    serving,
    async member(credit = 0) {
      const member = await organization.member()
      const { userId: user_id } = member
      if (credit > 0) {
        await admin('POST', '/credits/grant', { user_id, amount: credit, reason: 'test' })
      }
      return member
    },
    price: (pricing, fields = {}) =>
      fixture.api(owner, `PUT /connections/${connectionId}/models/pricing`, {
        model: 'fake/mine',
        pricing,
        ...fields,
      }),
    payBy,
    balance: async ({ userId }) => Number((await admin('GET', `/users/${userId}`))['balance']),
    pool: async () => Number((await fixture.api(owner, `GET ${path}`)).body['credit_balance']),
    operator: (fields) => admin('PUT', '/config', fields),
    async audited() {
      const audited = await runCommand('audit', { DATA_DIR: fixture.gateway.dataDir })
      expect(audited).toMatchObject({ code: 0, err: '' })
    },
  }
}
