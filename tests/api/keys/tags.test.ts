import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, listIn, problem } from '../catalogue/requests'
import { eventually } from '../../../server/testing/eventually'
import { messages, sendRequest, type Json } from '../../harness/http'
import { readLog } from '../../harness/request-log'
import { startRig, type Customer, type Rig } from '../../harness/server'

let rig: Rig
let owner: Customer

beforeAll(async () => {
  rig = await startRig({ environment: { MINIMUM_BALANCE_USD: '0' } })
  owner = await rig.gateway.customer({ permissions: ['admin'] })
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const api = (request: string, body?: Json) => call(rig.gateway, owner, request, body)
const newKey = (fields: Json) => api('POST /account/keys', { name: 'Tagged', ...fields })

test('the tags of a key are those of its requests, until they are changed', async () => {
  const created = await newKey({ tags: ['team:search', 'production', 'production'] })
  expect(created.status).toBe(201)
  expect(created.body['tags']).toEqual(['production', 'team:search'])
  const key = String(created.body['key'])
  const path = `/account/keys/${String(created.body['id'])}`
  const tagsOfRequest = async () => {
    const model = await rig.model('ok')
    const answer = await sendRequest(rig.gateway, { key, body: { model, messages } })
    expect(answer.status).toBe(200)
    return (await readLog(rig.gateway, owner, answer))['tags']
  }
  expect(await tagsOfRequest()).toEqual(['production', 'team:search'])

  const changed = await api(`PATCH ${path}`, { tags: ['batch'] })
  expect(changed.body['tags']).toEqual(['batch'])
  await eventually(async () => JSON.stringify(await tagsOfRequest()) === '["batch"]')

  expect((await api(`PATCH ${path}`, { name: 'Other' })).body['tags']).toEqual(['batch'])
  expect((await api(`PATCH ${path}`, { tags: null })).body['tags']).toEqual([])
  await eventually(async () => JSON.stringify(await tagsOfRequest()) === '[]')
  const keys = listIn(await api('GET /account/keys'), 'keys')
  expect(keys.map(({ tags }) => tags)).toEqual([[], []])
})

test.each([
  ['more than ten', Array.from({ length: 11 }, (_, at) => `t${at}`), ['tags', 'too_many']],
  ['a comma', ['a', 'b, c'], ['tags.1', 'bad_format']],
  ['other characters', ['naïve'], ['tags.0', 'bad_format']],
  ['more than 64 characters', ['a'.repeat(65)], ['tags.0', 'too_long']],
  ['no list', 'a', ['tags', 'wrong_type']],
])('a key with %s in its tags is rejected', async (_case, tags, fault) => {
  expect(problem(await newKey({ tags }))).toEqual([400, ...fault])
})
