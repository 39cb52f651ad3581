import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, listIn, waitFor, type Fixture } from './fixture'
import { idIn } from '../../harness/byok'
import { mediaRequests } from '../../harness/media'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'
import { eventuallyReads } from '../../../server/testing/eventually'

let fixture: Fixture

beforeAll(async () => {
  await untilDayLasts()
  fixture = await createFixture({ MINIMUM_BALANCE_USD: '0' })
}, 30_000 + dayWaitMs)
afterAll(() => fixture[Symbol.asyncDispose]())

/** Three images for 0.12 USD, 2.5 seconds of sound for 0.00025, and 19 characters for 0.000285. */
const bill = 0.120_535

async function spendToday(customer: Customer): Promise<unknown> {
  const keys = listIn(await fixture.api(customer, 'GET /account/keys'), 'keys')
  const usage = keys.find(({ id }) => id === customer.keyId)?.['usage']
  return typeof usage === 'object' && usage !== null ? Reflect.get(usage, 'spend_today') : undefined
}

async function monthlySpendOf(customer: Customer): Promise<unknown> {
  const quotas = listIn(await fixture.api(customer, 'GET /user/quota/status'), 'quotas')
  return quotas.find(({ type }) => type === 'monthly_spend')?.['used']
}

test('an image, a transcription and a speech count in alerts, the key’s spend, the quota and monthly limits', async () => {
  const { rig, api } = fixture
  const plan = await rig.gateway.admin('POST', '/plans', { name: 'media', monthly_spend: 0.16 })
  const customer = await rig.gateway.customer(
    { permissions: ['read', 'write', 'admin'], monthly_spend_limit: 0.15 },
    { plan_id: plan['id'] },
  )
  // Without one of the three the spend is lower.
  const threshold = 0.1205
  const fields = { name: 'Cost', type: 'cost_threshold', threshold, period: 'day' }
  const id = idIn(await api(customer, 'POST /account/alerts', fields))
  const media = mediaRequests(rig)
  for (const answer of [
    await media.draw(customer, 3),
    await media.transcribe(customer, 2.5),
    await media.speak(customer, 'Good morning to you'),
  ])
    expect(answer.status).toBe(200)
  const trigger = await waitFor(
    async () => listIn(await api(customer, `GET /account/alerts/${id}`), 'recent_triggers')[0],
  )
  expect(trigger['value']).toBe(bill)
  await eventuallyReads(
    () => spendToday(customer),
    (spend) => spend === bill,
  )
  expect(await monthlySpendOf(customer)).toBe(bill)
  // The key has 0.029465 USD left, less than an image costs.
  const refused = await media.draw(customer, 1)
  expect([refused.status, refused.error.code]).toEqual([402, 'insufficient_credits'])
  expect(refused.error.message).toContain('spending limit')
  expect((await media.speak(customer, 'Good morning')).status).toBe(200)
})
