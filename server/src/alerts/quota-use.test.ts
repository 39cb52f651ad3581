import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readQuotaUse } from './quota-use'
import { logRequests, type Requests } from '../../testing/alerts/requests'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer } from '../../testing/ledger/customer'
import { readAccountLimits } from '../auth/account-limits'
import type { Database } from '../platform/db/database'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const dayMs = 86_400_000
/** Half past an hour, so that windows begin within one. */
const nowMs = Date.UTC(2026, 1, 10, 12, 30)

test('images and seconds of sound count at their peaks of the window', async () => {
  const { query } = database
  const userId = await createCustomer(database)
  const log = (requests: Requests) => logRequests(query, userId, requests)
  await log({ atMs: nowMs - 3 * dayMs, images: 3, audioSeconds: 33 })
  await log({ atMs: nowMs - 2 * dayMs, images: 7, audioSeconds: 3 })
  await log({ atMs: nowMs - 9 * dayMs, images: 9, audioSeconds: 59 })
  const { limits } = await readAccountLimits(query, userId)
  const requested = {
    userId,
    fromMs: nowMs - 7 * dayMs,
    limits: { ...limits, imagesPerMinute: 10, audioSecondsPerMinute: 60 },
  }
  const [uses] = await readQuotaUse(query, [requested], nowMs - 30 * dayMs)
  expect(uses).toContainEqual({ limit: 10, used: 7 })
  expect(uses).toContainEqual({ limit: 60, used: 33 })
})
