import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn, createFixture, type Fixture } from './fixture'
import { problem } from '../../gateway/routing/fixture'
import type { Answer, Json } from '../../harness/http'
import { findBooked, requestIdOf } from '../../harness/ledger'
import type { Customer } from '../../harness/server'

let fixture: Fixture
let other: Customer
/** Ids of requests: one that succeeded, and two that failed in different ways. */
let served: Answer
let unknown: string
let tooLong: string

const idOf = ({ headers }: Answer) => headers.get('x-request-id') ?? ''

beforeAll(async () => {
  fixture = await createFixture()
  other = await fixture.rig.gateway.customer()
  served = await fixture.chat('ok')
  const failing = [
    await fixture.post({ model: 'no/such', messages: [{ role: 'user', content: 'Hi' }] }),
    await fixture.chat('ok', { max_tokens: 1_000_000 }),
  ]
  for (const answer of [served, ...failing]) await fixture.logOf(answer)
  const [unknownId = '', tooLongId = ''] = failing.map(idOf)
  unknown = unknownId
  tooLong = tooLongId
})
afterAll(() => fixture[Symbol.asyncDispose]())

const search = (text: string, rest = '', as?: Customer) =>
  fixture.read(`?search=${encodeURIComponent(text)}${rest}`, as)
const found = async (text: string, rest?: string, as?: Customer) =>
  listIn(await search(text, rest, as), 'logs').map(({ id }) => id)

test('a request is found by its whole id, and by the id of its answer', async () => {
  const id = idOf(served)
  expect(await found(id)).toEqual([id])
  expect(await found(` ${id.toUpperCase()} `)).toEqual([id])
  expect(await found(String(served.body['id']))).toEqual([id])
})

test('requests are found by the first characters of their ids, newest first', async () => {
  const all = [tooLong, unknown, idOf(served)]
  expect(await found(unknown.slice(0, 8))).toEqual(all)
  expect(await found(unknown.slice(0, 25))).toEqual([unknown])
  expect(await found(unknown.slice(0, 8), '&status=success')).toEqual([idOf(served)])
})

test('failed requests are found by a text of the code or the message of their error', async () => {
  expect(await found('MODEL_NOT_found')).toEqual([unknown])
  const { error } = Object((await fixture.read(`/${tooLong}`)).body)
  expect(await found(String(error.message).slice(3, 30))).toEqual([tooLong])
  expect(await found('%')).toEqual([])
  expect(await found('nothing says this')).toEqual([])
})

test('the list names the key and the error of each request', async () => {
  const [log] = listIn(await search(unknown), 'logs')
  expect(log).toMatchObject({
    error: { code: 'model_not_found' },
    api_key_name: expect.any(String),
  })
})

const sums = async (text: string): Promise<Json> =>
  (await fixture.read(`/stats?search=${encodeURIComponent(text)}`)).body

test('sums count the results of a search', async () => {
  expect(await sums('model_not_found')).toMatchObject({ total_requests: 1, failed_requests: 1 })
  expect(await sums(idOf(served))).toMatchObject({ total_requests: 1, successful_requests: 1 })
})

test('requests of other accounts are not found', async () => {
  for (const text of [unknown, unknown.slice(0, 8), 'model_not_found'])
    expect(await found(text, '', other)).toEqual([])
})

const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString()

test('errors are searched in 31 days at most', async () => {
  expect(problem(await search('failed', `&start_date=${days(40)}`))).toEqual([
    400,
    'invalid_request',
    'start_date',
    'out_of_range',
  ])
  expect((await search('failed', `&start_date=${days(31)}`)).status).toBe(200)
  expect((await search(unknown, `&start_date=${days(40)}`)).status).toBe(200)
})

test('each attempt has its start, its first token and its cost', async () => {
  const { details } = await streamed()
  const { attempts } = Object(details['resolution_attempts'])
  expect(attempts).toHaveLength(1)
  const [attempt] = attempts
  expect(attempt).toMatchObject({ status: 'success', cost: details['cost'] })
  expect(attempt.started_ms).toBeGreaterThanOrEqual(0)
  expect(attempt.started_ms + attempt.latency_ms).toBeLessThanOrEqual(
    Number(details['latency_ms']) + 50,
  )
  expect(attempt.time_to_first_token_ms).toBeLessThanOrEqual(attempt.latency_ms)
})

async function streamed() {
  const stream = await fixture.stream('ok')
  await findBooked(fixture.sql, [requestIdOf(stream)])
  return { details: await fixture.detailsOf(stream) }
}
