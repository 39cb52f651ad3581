import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createCustomer } from '../../testing/ledger/customer'
import { recordForTests } from '../../testing/ledger/event'
import { readRecord } from './charge'
import { lookUpEvents } from './look-up-events'
import { settle } from './settle'
import { toOrphanRecord } from './usage-record'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const keyOf = (record: string) => readRecord(record).charge
const eventAt = (accountId: string, startedAt: string) =>
  recordForTests(accountId, { startedAt, cost: 10n })

test('finding M21: separates known events from missing ones', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  const booked = eventAt(accountId, '2026-02-03T10:00:00.000Z')
  const other = eventAt(accountId, '2026-02-04T10:00:00.000Z')
  const absent = eventAt(accountId, '2026-02-05T10:00:00.000Z')
  await settle(query, [booked, other])
  const found = await lookUpEvents(query, [booked, absent].map(keyOf))
  expect([...found.knownIds]).toEqual([keyOf(booked).id])
  expect([...found.missingIds]).toEqual([keyOf(absent).id])
  expect((await lookUpEvents(query, [])).missingIds.size).toBe(0)
})

test('finding M21: a settled attempt recorded as dead is missing; a dead one counts as present either way', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  const settled = eventAt(accountId, '2026-02-03T11:00:00.000Z')
  const dead = toOrphanRecord(settled)
  await settle(query, [dead])
  const { id } = keyOf(settled)
  expect([...(await lookUpEvents(query, [keyOf(settled)])).missingIds]).toEqual([id])
  expect([...(await lookUpEvents(query, [keyOf(dead)])).knownIds]).toEqual([id])
  await settle(query, [settled])
  expect([...(await lookUpEvents(query, [keyOf(settled)])).knownIds]).toEqual([id])
  expect([...(await lookUpEvents(query, [keyOf(dead)])).knownIds]).toEqual([id])
})

test('finding M21: an event from before the days that the ledger keeps is not missing', async () => {
  const { query } = database
  const accountId = await createCustomer(database, 1000n)
  const old = eventAt(accountId, '2025-03-01T10:00:00.000Z')
  const later = eventAt(accountId, '2025-03-03T10:00:00.000Z')
  await sql`update audit set kept_since = '2025-03-02T00:00:00Z'`.execute(query)
  const { knownIds, missingIds } = await lookUpEvents(query, [old, later].map(keyOf))
  expect([knownIds.size, [...missingIds]]).toEqual([0, [keyOf(later).id]])
})
