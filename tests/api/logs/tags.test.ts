import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn, createFixture, type Fixture } from './fixture'
import { messages, sendRequest, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { dayWaitMs, untilDayLasts } from '../../../server/testing/calendar'

let fixture: Fixture

beforeAll(async () => {
  await untilDayLasts()
  fixture = await createFixture()
}, 60_000 + dayWaitMs)
afterAll(() => fixture[Symbol.asyncDispose]())

interface Tagged {
  as: Customer
  header?: string
  body?: Json
  path?: string
}

async function send({ as, header, body = {}, path }: Tagged) {
  const model = await fixture.rig.model('ok')
  return sendRequest(fixture.rig.gateway, {
    key: as.key,
    ...(path !== undefined && { path }),
    ...(header !== undefined && { headers: { 'x-tollgate-tags': header } }),
    body: { model, messages, ...body },
  })
}

const newCustomer = (key: Json = {}) => fixture.rig.gateway.customer(key)

test('a log has the tags of the key, the header and the metadata, each once', async () => {
  const as = await newCustomer({ tags: ['key', 'both'] })
  const answer = await send({
    as,
    header: 'batch, both',
    body: { metadata: { tags: 'team:x, batch', task: 'a test' } },
  })
  expect(answer.status).toBe(200)
  expect(await fixture.logOf(answer, as)).toMatchObject({
    tags: ['batch', 'both', 'key', 'team:x'],
    metadata: { tags: 'team:x, batch', task: 'a test' },
  })
  expect((await fixture.logOf(await send({ as }), as))['tags']).toEqual(['both', 'key'])
})

test('requests without tags, and those in other formats, are logged with the tags that they have', async () => {
  const as = await newCustomer()
  expect((await fixture.logOf(await send({ as }), as))['tags']).toEqual([])
  const message = { max_tokens: 16 }
  for (const path of ['/v1/messages', '/v1/responses']) {
    const body = path === '/v1/messages' ? message : { messages: undefined, input: 'Hi' }
    const answer = await send({ as, header: 'a', body, path })
    expect(answer.status).toBe(200)
    expect((await fixture.logOf(answer, as))['tags']).toEqual(['a'])
  }
  const told = { messages: undefined, input: 'Hi', metadata: { tags: 'b' } }
  const answer = await send({ as, body: told, path: '/v1/responses' })
  expect(answer.body['metadata']).toEqual({ tags: 'b' })
  expect((await fixture.logOf(answer, as))['tags']).toEqual(['b'])
})

test('logs are filtered by tags, and summed', async () => {
  const as = await newCustomer({ tags: ['key'] })
  for (const header of ['a', 'a, b', '']) await send({ as, header })
  const rejected = await send({ as, header: 'a', body: { temperature: 3 } })
  expect(rejected.status).toBe(400)
  const tagsOf = async (tag: string) =>
    listIn(await fixture.read(`?tag=${encodeURIComponent(tag)}`, as), 'logs').map(
      ({ tags }) => tags,
    )
  expect(await tagsOf('a')).toEqual([
    ['a', 'key'],
    ['a', 'b', 'key'],
    ['a', 'key'],
  ])
  expect(await tagsOf('b, key')).toEqual([['a', 'b', 'key']])
  expect(await tagsOf('A')).toEqual([])
  const { body } = await fixture.read('/stats?tag=a', as)
  expect(body).toMatchObject({ total_requests: 3, successful_requests: 2, failed_requests: 1 })
  const all = await fixture.rig.gateway.admin(
    'GET',
    `/request-logs?tag=key&user_id=${as.userId}&limit=2`,
  )
  expect(all['logs']).toHaveLength(2)
  expect((await fixture.read('?tag=', as)).status).toBe(400)
})

test.each([
  ['x-tollgate-tags', { header: 'a;b' }, 'bad_format'],
  ['x-tollgate-tags', { header: 'a'.repeat(65) }, 'too_long'],
  ['x-tollgate-tags', { header: 'a,b,c,d,e,f,g,h,i,j,k' }, 'too_many'],
  ['metadata.tags', { body: { metadata: { tags: ['a'] } } }, 'wrong_type'],
])('invalid tags in %s are rejected, and cost nothing: %j', async (param, fields, issue) => {
  const as = await newCustomer()
  const answer = await send({ as, ...fields })
  expect(answer.status).toBe(400)
  expect(answer.error).toMatchObject({ code: 'invalid_request', param, details: { issue } })
  expect(await fixture.logOf(answer, as)).toMatchObject({ status: 'error', cost: 0, tags: [] })
})

test('a text in metadata that means something else is kept as it came, and tags nothing', async () => {
  const as = await newCustomer()
  const metadata = { tags: 'What is it; who knows?' }
  const answer = await send({ as, body: { metadata } })
  expect(answer.status).toBe(200)
  expect(await fixture.logOf(answer, as)).toMatchObject({ metadata, tags: [] })
})

test('usage is grouped by the tags of requests, and filtered by one', async () => {
  const as = await newCustomer()
  for (const header of ['a', 'a', 'b, a', '']) {
    expect((await send({ as, header })).status).toBe(200)
  }
  const day = new Date().toISOString().slice(0, 10)
  const read = (query: string) =>
    sendRequest(fixture.rig.gateway, {
      path: `/api/billing/breakdown?start_date=${day}&end_date=${day}&${query}`,
      method: 'GET',
      key: as.key,
    })
  // The list of logs waits until they are booked.
  await fixture.read('', as)
  const byTags = await read('group_by=tag')
  expect(byTags.body['total']).toMatchObject({ requests: 4 })
  expect(
    listIn(byTags, 'groups').map(({ group, requests }) => [Object(group)['id'], requests]),
  ).toEqual([
    ['a', 2],
    ['', 1],
    ['a, b', 1],
  ])
  expect((await read('tag=a&group_by=model')).body['total']).toMatchObject({ requests: 3 })
  const ofAll = await fixture.rig.gateway.admin(
    'GET',
    `/usage/breakdown?start_date=${day}&end_date=${day}&user_id=${as.userId}&group_by=account&split_by=tag`,
  )
  expect(ofAll['groups']).toHaveLength(3)
  const ofOrganization = await read('group_by=tag&organization_id=org_00000000000000000000000000')
  expect(ofOrganization.status).toBe(404)
})
