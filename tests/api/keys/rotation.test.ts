import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, listIn, problem } from '../catalogue/requests'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { messages, sendRequest, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'

/** A change made on one node is looked at on both. */
let nodes: TwoNodes

beforeAll(async () => {
  nodes = await startTwoNodes()
})
afterAll(async () => {
  for (const node of [nodes.a, nodes.b]) node.recorder.verify()
  await nodes[Symbol.asyncDispose]()
})

const api = (by: Pick<Customer, 'key'>, request: string, body?: Json) =>
  call(nodes.a, by, request, body)

const newOwner = () => nodes.a.customer({ permissions: ['admin'] })

async function newKey(by: Pick<Customer, 'key'>, fields: Json = {}) {
  const { status, text, body } = await api(by, 'POST /account/keys', { name: 'One', ...fields })
  if (status !== 201) throw new Error(text)
  return { id: String(body['id']), key: String(body['key']) }
}

async function rotate(by: Pick<Customer, 'key'>, id: string, fields?: Json) {
  const answer = await api(by, `POST /account/keys/${id}/rotate`, fields)
  if (answer.status !== 200) throw new Error(answer.text)
  return { key: String(answer.body['key']), answer }
}

async function codeOn(node: Gateway, key: string): Promise<string | undefined> {
  const body = { model: 'sandbox/echo', messages }
  return (await sendRequest(node, { key, body })).error.code
}

/** Waits until a request with a key ends so on both nodes: undefined is success. */
const awaitCode = async (key: string, code: string | undefined) => {
  for (const node of [nodes.a, nodes.b]) {
    await eventually(async () => (await codeOn(node, key)) === code)
  }
}

const shownKey = async (by: Pick<Customer, 'key'>, id: string) =>
  listIn(await api(by, 'GET /account/keys'), 'keys').find((one) => one['id'] === id)

const dayMs = 86_400_000

test('a rotated key has two secrets for a day, and its limits, lists and spending stay', async () => {
  const owner = await newOwner()
  const lists = { denied_models: ['sandbox/slow'], monthly_spend_limit: 5 }
  const { id, key } = await newKey(owner, lists)
  await awaitCode(key, undefined)
  const rotated = await rotate(owner, id)
  const [previous] = listIn(rotated.answer, 'previous_secrets')
  expect(previous).toEqual({ key_prefix: key.slice(0, 12), expires_at: expect.any(String) })
  const rotatedAt = Date.parse(String(rotated.answer.body['rotated_at']))
  const overlapMs = Date.parse(String(previous?.['expires_at'])) - rotatedAt
  expect(Math.abs(overlapMs - dayMs)).toBeLessThan(60_000)
  await awaitCode(rotated.key, undefined)
  await awaitCode(key, undefined)
  expect(await shownKey(owner, id)).toMatchObject({
    ...lists,
    key_prefix: rotated.key.slice(0, 12),
    previous_secrets: [previous],
  })
  await api(owner, `PATCH /account/keys/${id}`, { denied_models: ['sandbox/*'] })
  await awaitCode(rotated.key, 'model_access_denied')
  await awaitCode(key, 'model_access_denied')
})

test('an old secret is invalid once its overlap is over, by itself', async () => {
  const owner = await newOwner()
  const { id, key } = await newKey(owner)
  await awaitCode(key, undefined)
  const rotated = await rotate(owner, id, { overlap_seconds: 1 })
  await awaitCode(key, 'invalid_api_key')
  await awaitCode(rotated.key, undefined)
  expect((await shownKey(owner, id))?.['previous_secrets']).toEqual([])
})

describe('old secrets of a key end', () => {
  const ways: [string, (owner: Customer, id: string) => Promise<unknown>, string][] = [
    [
      'when its owner ends the overlap',
      (owner, id) => api(owner, `PATCH /account/keys/${id}`, { previous_secrets: null }),
      'invalid_api_key',
    ],
    [
      'with a rotation without overlap',
      (owner, id) => rotate(owner, id, { overlap_seconds: 0 }),
      'invalid_api_key',
    ],
    [
      'with a shorter overlap',
      (owner, id) => rotate(owner, id, { overlap_seconds: 1 }),
      'invalid_api_key',
    ],
    ['with the key', (owner, id) => api(owner, `DELETE /account/keys/${id}`), 'invalid_api_key'],
    [
      'with a pause of the key',
      (owner, id) => api(owner, `PATCH /account/keys/${id}`, { disabled: true }),
      'invalid_api_key',
    ],
    [
      'when the row is deleted by hand',
      async (_owner, id) => {
        await using sql = await openDatabase(nodes.a.dataDir)
        await sql`delete from previous_secret where key_id = ${id}`
      },
      'invalid_api_key',
    ],
  ]

  test.each(ways)('%s, on every node', async (_when, end, code) => {
    const owner = await newOwner()
    const { id, key } = await newKey(owner)
    const second = await rotate(owner, id, { overlap_seconds: 3600 })
    const third = await rotate(owner, id)
    for (const secret of [key, second.key, third.key]) await awaitCode(secret, undefined)
    await end(owner, id)
    for (const secret of [key, second.key]) await awaitCode(secret, code)
  })
})

test('an earlier secret does not outlive the overlap of a later rotation, nor is it lengthened by it', async () => {
  const owner = await newOwner()
  const { id, key } = await newKey(owner)
  const second = await rotate(owner, id, { overlap_seconds: 600 })
  const third = await rotate(owner, id, { overlap_seconds: 7200 })
  const prefixesOf = ({ answer }: typeof third) =>
    listIn(answer, 'previous_secrets').map((one) => one['key_prefix'])
  const [firstEnd, thirdEnd] = [second, third].map(({ answer }) =>
    listIn(answer, 'previous_secrets').map((one) => String(one['expires_at'])),
  )
  expect(prefixesOf(third)).toEqual([second.key.slice(0, 12), key.slice(0, 12)])
  expect(thirdEnd?.[1]).toBe(firstEnd?.[0] ?? '')
  const last = await rotate(owner, id, { overlap_seconds: 60 })
  const ends = listIn(last.answer, 'previous_secrets').map((one) => one['expires_at'])
  expect(ends).toHaveLength(3)
  expect(new Set(ends).size).toBe(1)
})

test('a key has five old secrets at most', async () => {
  const owner = await newOwner()
  const { id } = await newKey(owner)
  for (let count = 0; count < 5; count++) await rotate(owner, id)
  const refused = await api(owner, `POST /account/keys/${id}/rotate`)
  expect(problem(refused)).toEqual([400, null, 'limit_reached'])
  expect((await rotate(owner, id, { overlap_seconds: 0 })).answer.body['previous_secrets']).toEqual(
    [],
  )
})

test('an old secret makes itself and nothing else live longer', async () => {
  const owner = await newOwner()
  const { id, key } = await newKey(owner, { permissions: ['admin'] })
  await rotate(owner, id)
  const old = { key }
  for (const target of [id, owner.keyId]) {
    const refused = await api(old, `POST /account/keys/${target}/rotate`)
    expect(problem(refused)).toEqual([400, null, 'not_allowed'])
  }
  const made = await api(old, 'POST /account/keys', { name: 'Free' })
  expect(problem(made)).toEqual([400, 'expires_at', 'not_allowed'])
  const raised = await api(old, `PATCH /account/keys/${owner.keyId}`, { name: 'Mine' })
  expect(problem(raised)).toEqual([400, null, 'not_allowed'])
})

test.each<[Json, string, string]>([
  [{ overlap_seconds: -1 }, 'overlap_seconds', 'out_of_range'],
  [{ overlap_seconds: 2_592_001 }, 'overlap_seconds', 'out_of_range'],
  [{ overlap_seconds: 1.5 }, 'overlap_seconds', 'wrong_type'],
  [{ overlap_seconds: '60' }, 'overlap_seconds', 'wrong_type'],
])('a rotation with %j is rejected', async (fields, param, issue) => {
  const owner = await newOwner()
  const refused = await api(owner, `POST /account/keys/${owner.keyId}/rotate`, fields)
  expect(problem(refused)).toEqual([400, param, issue])
})

test('the list of keys has the address of the last use', async () => {
  const owner = await newOwner()
  const { id, key } = await newKey(owner)
  await awaitCode(key, undefined)
  const read = () => shownKey(owner, id)
  const used = await eventuallyReads(read, (one) => one?.['last_used_at'] !== null)
  expect(used).toMatchObject({ last_used_address: '127.0.0.1' })
})
