import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { actorContext } from './actor-context'
import { actionFilters, actionsOf, recordChange, type RecordedFields } from './organization-trail'
import { pseudonymizeTrails, pseudonymOf } from './pseudonym'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database
let organizationId: string

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())
beforeEach(() => {
  organizationId = newId('org')
})

interface States {
  before?: RecordedFields
  after?: RecordedFields
  objectId?: string
  objectName?: string
}

const record = ({ objectId = 'conn_1', objectName = 'One', ...states }: States) =>
  recordChange(database.query, {
    organizationId,
    action: 'connection.changed',
    objectId,
    objectName,
    ...states,
  })

/** Those of the system first. */
const rows = () =>
  database.query
    .selectFrom('organization_trail')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('actor')
    .execute()

test('records the differing fields of two states, money in USD, and nothing if they are equal', async () => {
  await record({
    before: { name: 'One', limit: null, list: ['a'], same: [1], billing_email: 'a@example.com' },
    after: {
      name: 'One',
      limit: 1_500_000_000n,
      list: ['a', 'b'],
      same: [1],
      billing_email: 'b@example.com',
    },
  })
  await record({ before: { name: 'One', limit: 1n }, after: { limit: 1n, name: 'One' } })
  expect(await rows()).toMatchObject([
    {
      before: { limit: null, list: ['a'], billing_email: '[set]' },
      after: { limit: 1.5, list: ['a', 'b'], billing_email: '[set]' },
    },
  ])
})

test('records the actor of a change within a request only', async () => {
  const [id, clientAddress] = [newId('user'), '192.0.2.1']
  await database.query
    .insertInto('users')
    .values({ id, email: 'then@example.com', display_name: 'Ann' })
    .execute()
  await record({ after: { name: 'One' } })
  const actor = { id, keyId: 'session', requestId: 'req_1', clientAddress }
  await actorContext.run(actor, () => record({ after: { name: 'One' } }))
  await database.query
    .updateTable('users')
    .set({ email: 'now@example.com' })
    .where('id', '=', id)
    .execute()
  expect(await rows()).toMatchObject([
    { actor: 'system', actor_email: null, key_id: null, request_id: null, client_address: null },
    {
      actor: id,
      actor_email: 'then@example.com',
      key_id: 'session',
      request_id: 'req_1',
      client_address: clientAddress,
    },
  ])
})

test('redacts secrets in names and fields', async () => {
  const name = 'Bearer sk-canary-0123456789'
  const url = 'https://me:canary@example.com/v1?key=canary'
  await record({
    objectName: name,
    after: { name, url, api_key: 'canary', deep: [{ token: 'canary' }] },
  })
  expect(JSON.stringify(await rows())).not.toContain('canary')
})

test('an erased user is named in no audit log: not as actor, object or invited address', async () => {
  const { query } = database
  const id = newId('user')
  const email = `Erased.${id}@example.com`
  await query.insertInto('users').values({ id, email, display_name: 'Bob' }).execute()
  const actor = { id, keyId: 'session', requestId: 'req_1', clientAddress: '192.0.2.1' }
  await actorContext.run(actor, () => record({ after: { name: 'One' } }))
  await record({ objectId: id, objectName: email, after: { role: 'member' } })
  const invited = {
    organizationId,
    objectId: newId('inv'),
    objectName: email.toLowerCase(),
    after: { role: 'member' },
  }
  await recordChange(query, { ...invited, action: 'invitation.created' })
  // It had another address when it was invited the first time.
  const earlier = { ...invited, objectId: newId('inv'), objectName: `before.${id}@example.com` }
  await recordChange(query, { ...earlier, action: 'invitation.created' })
  await actorContext.run(actor, () =>
    recordChange(query, { ...earlier, action: 'invitation.declined' }),
  )
  await record({ objectName: 'Another’s', after: { name: 'Another’s' } })
  await pseudonymizeTrails(query, id, email)
  const remaining = await rows()
  expect(JSON.stringify(remaining).toLowerCase()).not.toContain(`${id}@example.com`)
  expect(remaining).toHaveLength(6)
  expect(remaining).toContainEqual(
    expect.objectContaining({
      actor: id,
      actor_email: pseudonymOf(id),
      object_name: 'One',
      client_address: null,
    }),
  )
  expect(remaining.map((row) => row.object_name)).toContain('Another’s')
})

test('filters by action, or by kind of object', () => {
  expect(actionsOf('pool')).toEqual(['pool.created', 'pool.changed', 'pool.deleted'])
  expect(actionsOf('pool.deleted')).toEqual(['pool.deleted'])
  expect(actionFilters.filter((request) => actionsOf(request).length === 0)).toEqual([])
})
