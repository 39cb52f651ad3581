import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import type { Json } from '../../harness/http'
import { findBooked, requestIdOf } from '../../harness/ledger'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ BREAKER_SECONDS: '30' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** The attempts of a request that fails. */
async function attempts(): Promise<Json[]> {
  const answer = await fixture.chat('status-500')
  await findBooked(fixture.sql, [requestIdOf(answer)])
  const details = await fixture.detailsOf(answer)
  return Object(details['resolution_attempts']).attempts
}

test('finding B10: an attempt that an open circuit breaker admitted counts once, and is marked', async () => {
  const closed = await attempts()
  expect(closed).toMatchObject([{ status: 'error', last_route: false }])
  let found: Json[] = []
  for (let request = 0; request < 10 && found[0]?.['last_route'] !== true; request++) {
    found = await attempts()
  }
  expect(found).toMatchObject([{ status: 'error', error_code: 'provider_error', last_route: true }])
})
