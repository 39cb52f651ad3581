import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, listIn, waitFor, type Fixture } from './fixture'
import { idIn } from '../../harness/byok'
import { messages, sendRequest } from '../../harness/http'
import { newOrganization } from '../../harness/organization'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

test('finding B1: a cost alert counts the pool’s payments for the account', async () => {
  const { rig, api } = fixture
  const organization = await newOrganization({
    gateway: rig.gateway,
    newCustomer: () => rig.gateway.customer({ permissions: ['read', 'write', 'admin'] }),
  })
  const grant = { organization_id: organization.id, amount: 1, reason: 'For the test.' }
  await rig.gateway.admin('POST', '/credits/grant', grant)
  const member = await organization.member()
  const funding = { funding_source: 'organization', funding_organization_id: organization.id }
  expect((await api(member, 'PUT /account/settings', funding)).status).toBe(200)
  const fields = { name: 'Cost', type: 'cost_threshold', threshold: 0.000001, period: 'hour' }
  const id = idIn(await api(member, 'POST /account/alerts', fields))
  const answer = await sendRequest(rig.gateway, {
    key: member.key,
    body: { model: await rig.model('ok'), messages },
  })
  expect(answer.status).toBe(200)
  const trigger = await waitFor(
    async () => listIn(await api(member, `GET /account/alerts/${id}`), 'recent_triggers')[0],
  )
  expect(trigger['value']).toBe(Number(answer.headers.get('x-tollgate-cost')))
})
