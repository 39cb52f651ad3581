import { expect } from 'bun:test'
import type { Agent } from './agent-for-tests'
import { openGatewayStage, type GatewayStage, type Made } from './stage'
import { newOrganization, type Organization } from '../connections/organization'
import type { Answer, Json } from '../faults/asking'
import { runCommand } from '../run-command'
import type { Customer } from '../rig'

/** An organization whose gateway serves `fake/mine`, which is in no catalogue, to those who pay. */
export interface PricedStage extends GatewayStage {
  organization: Organization
  gatewayOf: Made
  connectionId: string
  serving: Agent
  /** Lets somebody in, with so much of his own. */
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

export async function openPricedStage(): Promise<PricedStage> {
  const stage = await openGatewayStage()
  const { admin } = stage.gateway
  await admin('PUT', '/config', {
    platform_fee_percent: feePercent,
    rates: { api_requests_per_minute: 100_000 },
  })
  const organization = await newOrganization(stage)
  const { owner, id, path } = organization
  const gatewayOf = await stage.made(owner, { scope: 'organization', organization_id: id })
  const serving = await stage.agent(gatewayOf).ready()
  const list = await stage.api(owner, 'GET /connections?gateway_type=3')
  const [connection] = Array.isArray(list.body['connections']) ? list.body['connections'] : []
  const connectionId = String(connection.id)
  const payBy = (billing_mode: string) =>
    stage.api(owner, `PUT /connections/${connectionId}`, { billing_mode })
  await payBy('member_pays')
  return {
    ...stage,
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
      stage.api(owner, `PUT /connections/${connectionId}/models/pricing`, {
        model: 'fake/mine',
        pricing,
        ...fields,
      }),
    payBy,
    balance: async ({ userId }) => Number((await admin('GET', `/users/${userId}`))['balance']),
    pool: async () => Number((await stage.api(owner, `GET ${path}`)).body['credit_balance']),
    operator: (fields) => admin('PUT', '/config', fields),
    async audited() {
      const audited = await runCommand('audit', { DATA_DIR: stage.gateway.dataDir })
      expect(audited).toMatchObject({ code: 0, err: '' })
    },
  }
}
