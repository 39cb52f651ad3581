import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { openTestDatabase } from '../../../testing/db/database'
import { newId } from './id'
import { rewrapSecrets } from './rewrap-secrets'
import type { Schema } from './schema'
import { connectionSecret, networkSecret, seal, unseal, type SealingKeys } from './sealed'

const old = { id: 'old', key: Buffer.alloc(32, 3) }
const young = { id: 'young', key: Buffer.alloc(32, 4) }
const lost = { id: 'lost', key: Buffer.alloc(32, 5) }
const both: SealingKeys = [young, old]

let stack: AsyncDisposableStack
let db: Kysely<Schema>

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  db = (await openTestDatabase(stack)).query
})
afterAll(() => stack.disposeAsync())
beforeEach(() => db.deleteFrom('connection').execute())

async function connections(count: number, keys: SealingKeys = [old]): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('conn'))
  const rows = ids.map((id) => ({
    id,
    scope: 'platform' as const,
    name: 'one',
    provider: 'fake',
    secret: seal(`sk-${id}`, keys, connectionSecret(id)),
    secret_key_id: keys[0].id,
  }))
  await db.insertInto('connection').values(rows).execute()
  return ids
}

/** How many secrets these keys open. */
async function opened(keys: SealingKeys): Promise<number> {
  const rows = await db.selectFrom('connection').select(['id', 'secret']).execute()
  return rows.filter(({ id, secret }) => {
    try {
      return secret && unseal(secret, keys, connectionSecret(id)) === `sk-${id}`
    } catch {
      return false
    }
  }).length
}

test('K07: every secret opens with the new key alone; a second run finds nothing to do', async () => {
  await connections(230)
  expect(await rewrapSecrets(db, both)).toEqual({ rewrapped: 230, closed: [] })
  expect(await opened([young])).toBe(230)
  expect(await rewrapSecrets(db, both)).toEqual({ rewrapped: 0, closed: [] })
})

test('K07: interrupted anywhere, each secret opens with both keys, and the next run does the rest', async () => {
  await connections(230)
  const stopped = rewrapSecrets(db, both, () => {
    throw new Error('interrupted')
  })
  await expect(stopped).rejects.toThrow('interrupted')
  expect(await opened([young])).toBe(100)
  expect(await opened(both)).toBe(230)
  expect(await rewrapSecrets(db, both)).toEqual({ rewrapped: 130, closed: [] })
  expect(await opened([young])).toBe(230)
})

test('names a secret whose key is missing, and rewraps the others', async () => {
  const [closed] = await connections(1, [lost])
  await connections(2)
  const { rewrapped, closed: reported } = await rewrapSecrets(db, both)
  expect(rewrapped).toBe(2)
  expect(reported).toEqual([{ id: closed ?? '', why: expect.stringContaining('"lost"') }])
})

test('a key that was replaced after its row was marked is taken as it is', async () => {
  const [id = ''] = await connections(1, [young])
  await db.updateTable('connection').set({ secret_key_id: 'old' }).execute()
  expect((await rewrapSecrets(db, both)).rewrapped).toBe(1)
  const row = await db.selectFrom('connection').selectAll().executeTakeFirstOrThrow()
  expect([row.id, row.secret_key_id]).toEqual([id, 'young'])
  expect(await opened([young])).toBe(1)
})

test('K07: the secrets of the way to a connection are rewrapped beside its credential', async () => {
  const [id = ''] = await connections(1, [young])
  const sealed = seal('{"client_key":"k"}', [old], networkSecret(id))
  const columns = { network_secret: sealed, network_secret_key_id: 'old' }
  await db.updateTable('connection').set(columns).execute()
  expect(await rewrapSecrets(db, both)).toEqual({ rewrapped: 1, closed: [] })
  const row = await db.selectFrom('connection').selectAll().executeTakeFirstOrThrow()
  expect(row.network_secret_key_id).toBe('young')
  const secrets = row.network_secret && unseal(row.network_secret, [young], networkSecret(id))
  expect(secrets).toBe('{"client_key":"k"}')
  expect(await opened([young])).toBe(1)
})
