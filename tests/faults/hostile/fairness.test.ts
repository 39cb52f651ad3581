import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { compressionBombs } from './compression-bombs'
import { bounds, describeEffect, isFair, measureEffect, type Attack, type Effect } from './effect'
import { jsonShapes } from './json-shapes'
import { rejectedStorms } from './rejected-storms'
import { slowBodies } from './slow-bodies'
import { reportMeasured } from './report'
import { createFixture, type Fixture } from './fixture'
import { streamFloods } from './stream-floods'
import { bodyOf } from './hostile-bodies'
import { sendRequest } from '../../harness/http'
import { retryOptions } from '../../harness/timed'

/**
 * The effect of a hostile account on another: its rate falls by at most 10 %, its p99 at most doubles. Measured
 * with and without the attack in turns. Other load of the machine changes both at any
 * moment, so each bound has to hold in one of three runs.
 */
setDefaultTimeout(180_000)

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

function expectFair({ victimBefore, victimDuring }: Effect): void {
  const { minRate, maxP99Ms } = bounds(victimBefore)
  expect(victimDuring.rate).toBeGreaterThan(minRate)
  expect(victimDuring.p99Ms).toBeLessThan(maxP99Ms)
}

const families: Readonly<Record<string, readonly Attack[]>> = {
  'S2: streams': streamFloods,
  'S2: compression': compressionBombs,
  'S3: JSON': jsonShapes,
  'S2: refused requests': rejectedStorms,
  'S2: slow bodies': slowBodies,
}

for (const [family, attacks] of Object.entries(families)) {
  describe(family, () => {
    test.each(attacks.map((attack) => [attack.name, attack] as const))(
      '%s takes at most 10 %% of another account’s rate',
      async (_name, attack) => {
        const effect = await measureEffect(fixture, attack)
        console.log(describeEffect(effect))
        reportMeasured(effect, isFair(effect))
        expect(effect.attackerCost.requests).toBeGreaterThan(0)
        expectFair(effect)
      },
      retryOptions,
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
  let log = await logged()
  while (log.status !== 200) {
    await Bun.sleep(50)
    log = await logged()
  }
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
