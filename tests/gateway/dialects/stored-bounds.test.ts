import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { openDatabase } from '../../harness/database'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

/** What an account without credit can have kept, and can make a request read back. */

const megabyte = 1024 * 1024
/** The least that an operator may set; an eighth of it is for answers, an eighth for bodies. */
const bound = 128
const share = (bound / 8) * megabyte

let rig: Rig

beforeAll(async () => {
  rig = await startRig()
  await rig.gateway.admin('PUT', '/config', {
    stored_megabytes_per_account: bound,
    log_bodies: true,
  })
})
afterAll(() => rig?.[Symbol.asyncDispose]())

const newCustomer = () => rig.gateway.customer({}, { credit: 0 })

const post = ({ key }: Customer, path: string, body: Json): Promise<Answer> =>
  sendRequest(rig.gateway, { key, path, body })

const get = ({ key }: Customer, path: string): Promise<Answer> =>
  sendRequest(rig.gateway, { key, path, method: 'GET' })

async function sumsOf({ userId }: Customer) {
  await using sql = await openDatabase(rig.gateway.dataDir)
  const [row] = await sql`
    select responses, running, conversations, answers, bodies, texts
    from account_storage where user_id = ${userId}`
  const sums = { responses: 0, running: 0, conversations: 0, answers: 0, bodies: 0, texts: 0 }
  return Object.fromEntries(Object.keys(sums).map((kind) => [kind, Number(row?.[kind] ?? 0)]))
}

/** One item of 90,000 empty lists, in 0.3 MB. */
const heavyItem = { role: 'user', content: 'Hello.', x: Array.from({ length: 90_000 }, () => []) }

test('finding S21: a conversation has at most the structure that a request may continue', async () => {
  const customer = await newCustomer()
  const { body } = await post(customer, '/v1/conversations', {})
  const items = `/v1/conversations/${String(body['id'])}/items`
  for (let added = 0; added < 2; added++)
    expect((await post(customer, items, { items: [heavyItem] })).status).toBe(200)
  const third = await post(customer, items, { items: [heavyItem] })
  expect([third.status, third.error.param, third.error.details?.['issue']]).toEqual([
    400,
    'items',
    'limit_reached',
  ])
  expect(third.error.message).toContain('200000 objects, lists and names')
  const answer = await post(customer, '/v1/responses', {
    model: 'sandbox/echo',
    input: 'Hello?',
    conversation: String(body['id']),
  })
  expect(answer.status).toBe(200)
  expect((await get(customer, `${items}?limit=1`)).status).toBe(200)
})

test('finding S22: an input of 9 MB does not begin in the background, and is not kept', async () => {
  const customer = await newCustomer()
  const { status, error } = await post(customer, '/v1/responses', {
    model: 'sandbox/echo',
    input: 'x'.repeat(9 * megabyte),
    background: true,
  })
  expect([status, error.param, error.details?.['issue']]).toEqual([400, 'input', 'body_too_large'])
  expect(await sumsOf(customer)).toMatchObject({ running: 0, responses: 0 })
})

test('finding S22: answers for repeats are kept up to their share, the latest ones', async () => {
  const customer = await newCustomer()
  const content = 'word '.repeat(40_000)
  const send = (at: number) =>
    sendRequest(rig.gateway, {
      key: customer.key,
      headers: { 'idempotency-key': `key-${at}` },
      body: {
        model: 'sandbox/echo',
        n: 8,
        messages: [{ role: 'user', content: `${at} ${content}` }],
      },
    })
  for (let at = 0; at < 14; at++) expect((await send(at)).status).toBe(200)
  const { answers } = await sumsOf(customer)
  expect(answers).toBeLessThanOrEqual(share)
  expect(answers).toBeGreaterThan(share / 2)
  const isReplay = async (at: number) =>
    (await send(at)).headers.get('x-idempotent-replay') === 'true'
  expect(await isReplay(13)).toBeTrue()
  expect(await isReplay(0)).toBeFalse()
})

test('finding S22: logged bodies are kept up to their share, the latest ones', async () => {
  const customer = await newCustomer()
  await using sql = await openDatabase(rig.gateway.dataDir)
  await sql`update users set log_bodies = true where id = ${customer.userId}`
  const content = 'x'.repeat(70_000)
  const send = () =>
    post(customer, '/v1/chat/completions', {
      model: 'sandbox/echo',
      messages: [{ role: 'user', content }],
    })
  const bodiesOf = async () => Number((await sumsOf(customer))['bodies'])
  // The node learns of the account's setting within a second.
  await eventually(async () => {
    await send()
    return (await bodiesOf()) > 0
  })
  for (let round = 0; round < 15; round++)
    await Promise.all(Array.from({ length: 10 }, () => send()))
  const last = await send()
  const id = last.headers.get('x-request-id') ?? ''
  const isStored = async () => (await sql`select 1 from request_body where id = ${id}`).length === 1
  await eventually(isStored)
  expect(await bodiesOf()).toBeLessThanOrEqual(share)
  expect(await bodiesOf()).toBeGreaterThan(share / 2)
})

test('finding S22: responses and conversations make room for each other, the oldest first', async () => {
  const customer = await newCustomer()
  await using sql = await openDatabase(rig.gateway.dataDir)
  // Rows say how large they are: what counts is the sum.
  await sql`
    insert into conversation (id, user_id, metadata, bytes, used_at)
    values ('conv_full', ${customer.userId}, '{}', ${120 * megabyte}, now() - interval '1 day')`
  const { body } = await post(customer, '/v1/responses', {
    model: 'sandbox/echo',
    input: 'x'.repeat(100_000),
    store: true,
  })
  const path = `/v1/responses/${String(body['id'])}`
  await eventually(async () => (await sumsOf(customer))['responses'] !== 0)
  await sql`update stored_response set bytes = ${20 * megabyte} where user_id = ${customer.userId}`
  expect((await get(customer, '/v1/conversations/conv_full')).status).toBe(404)
  expect((await get(customer, path)).status).toBe(200)
})

test('finding S22: prompts have a quarter, beyond which they are rejected', async () => {
  const customer = await rig.gateway.customer({ permissions: ['admin'] }, { credit: 0 })
  await using sql = await openDatabase(rig.gateway.dataDir)
  const create = (characters: number) =>
    post(customer, '/api/user/prompts', { title: 'A', content: 'x'.repeat(characters) })
  expect((await create(100)).status).toBe(201)
  await sql`
    insert into prompt (id, user_id, title, content)
    values (${`prompt_${customer.userId}`}, ${customer.userId}, 'A',
      repeat('x', ${(bound / 4) * megabyte - 10_000}::int))`
  const { status, error } = await create(10_000)
  expect([status, error.code, error.details?.['issue']]).toEqual([
    400,
    'invalid_request',
    'limit_reached',
  ])
  expect((await create(100)).status).toBe(201)
})
