import { afterAll, beforeAll, expect, test } from 'bun:test'
import { listIn } from './fixture'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

let nodes: TwoNodes

beforeAll(async () => {
  nodes = await startTwoNodes({ environment: { MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'warn' } })
})
afterAll(() => nodes[Symbol.asyncDispose]())

test('logs of one node are read on the other', async () => {
  const { a, b } = nodes
  const customer = await a.customer({}, { credit: 0 })
  const body = { model: 'sandbox/echo', messages }
  const served = await sendRequest(b, { key: customer.key, body })
  const refused = await sendRequest(b, { key: customer.key, body: { ...body, model: 'no/such' } })
  expect([served.status, refused.status]).toEqual([200, 404])
  const wanted = [refused, served].map(({ headers }) => headers.get('x-request-id'))
  const path = '/api/account/request-logs'
  let found: unknown[] = []
  await eventually(async () => {
    const logs = listIn(await sendRequest(a, { path, method: 'GET', key: customer.key }), 'logs')
    found = logs.map(({ id }) => id)
    return found.length >= 2
  })
  expect(found).toEqual(wanted)
})
