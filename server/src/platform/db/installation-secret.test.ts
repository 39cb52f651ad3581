import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { openTestDatabase } from '../../../testing/db/database'
import { readInstallationSecret } from './installation-secret'
import { rewrapSecrets } from './rewrap-secrets'
import type { Schema } from './schema'
import type { SealingKeys } from './sealed'

const old = { id: 'old', key: Buffer.alloc(32, 3) }
const young = { id: 'young', key: Buffer.alloc(32, 4) }
const keys: SealingKeys = [old]

let stack: AsyncDisposableStack
let db: Kysely<Schema>

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  db = (await openTestDatabase(stack)).query
})
afterAll(() => stack.disposeAsync())

test('finding S26: nodes that start together, start again or change their keys have the same secret for a use', async () => {
  const read = (id: 'sign-in' | 'provider-identifiers', held = keys) =>
    readInstallationSecret(db, held, id)
  const first = await Promise.all(Array.from({ length: 4 }, () => read('provider-identifiers')))
  expect(new Set(first).size).toBe(1)
  expect(await read('provider-identifiers')).toBe(first[0] ?? '')
  expect(await read('sign-in')).not.toBe(first[0] ?? '')
  await rewrapSecrets(db, [young, old])
  expect(await read('provider-identifiers', [young])).toBe(first[0] ?? '')
})
