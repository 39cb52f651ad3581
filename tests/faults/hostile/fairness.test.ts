import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { collapse, describeEffect, isServed, measureEffect } from './collapse'
import { attackFamilies } from './attack-families'
import { reportMeasured } from './report'
import { createFixture, type Fixture } from './fixture'
import { bodyOf } from './hostile-bodies'
import { eventually } from '../../../server/testing/eventually'
import { sendRequest } from '../../harness/http'

/**
 * The effect of a hostile account on another: no collapse. The bound is far from what the attacks take, and what a
 * missing limit takes is far beyond it, so that it holds on a slow machine too. `fairness.timing.test.ts` measures how
 * much they take.
 */
setDefaultTimeout(180_000)

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

for (const [family, attacks] of Object.entries(attackFamilies)) {
  describe(family, () => {
    test.each(attacks.map((attack) => [attack.name, attack] as const))(
      '%s leaves another account at least half its rate, and its p99 below a second',
      async (_name, attack) => {
        const effect = await measureEffect(fixture, attack)
        console.log(describeEffect(effect))
        reportMeasured(effect, {
          isHeld: isServed(effect),
          bound: `no collapse means at least ${100 * collapse.minRateShare} % of the rate, p99 below ${collapse.maxP99Ms} ms`,
        })
        expect(effect.attackerCost.requests).toBeGreaterThan(0)
        const { victimBefore, victimDuring } = effect
        expect(victimDuring.rate / victimBefore.rate).toBeGreaterThanOrEqual(collapse.minRateShare)
        expect(victimDuring.p99Ms).toBeLessThan(collapse.maxP99Ms)
      },
    )
  })
}

test('S7: an answer nested 200,000 levels deep is a provider failure, not charged, and not a success', async () => {
  const { gateway } = fixture
  const attacker = await fixture.newAttacker()
  const answer = await sendRequest(gateway, {
    key: attacker.key,
    body: { model: 'hostile/nested-answer', messages: [{ role: 'user', content: 'Hello?' }] },
  })
  expect([answer.status, answer.error.code]).toEqual([502, 'provider_error'])
  expect(answer.error.message).toContain('nested deeper than 128 levels')
  const id = answer.headers.get('x-request-id') ?? ''
  const logged = () =>
    sendRequest(gateway, {
      path: `/api/account/request-logs/${id}`,
      method: 'GET',
      key: attacker.key,
    })
  await eventually(async () => (await logged()).status === 200)
  const log = await logged()
  expect(log.body).toMatchObject({ status: 'error', status_code: 502, cost: 0 })
})

test('S3: a body with too many names is rejected with 400, the field and the limit', async () => {
  const { gateway } = fixture
  const attacker = await fixture.newAttacker()
  const body = bodyOf('logit-bias').toString()
  const { status, error } = await sendRequest(gateway, { key: attacker.key, body })
  expect([status, error.param, error.details?.['issue']]).toEqual([400, 'logit_bias', 'too_many'])
  expect(error.message).toBe('logit_bias has an object with more than 10000 names.')
})

test('S3: a map of 1,025 entries is rejected with 400 in a small body too', async () => {
  const { gateway } = fixture
  const attacker = await fixture.newAttacker()
  const logit_bias = Object.fromEntries(Array.from({ length: 1025 }, (_, at) => [String(at), 1]))
  const body = { model: 'victim/m', messages: [{ role: 'user', content: 'Hello?' }], logit_bias }
  const { status, error } = await sendRequest(gateway, { key: attacker.key, body })
  expect([status, error.param, error.details?.['issue']]).toEqual([400, 'logit_bias', 'too_many'])
})
