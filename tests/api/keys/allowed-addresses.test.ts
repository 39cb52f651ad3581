import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, listIn, problem } from '../catalogue/requests'
import { eventually } from '../../../server/testing/eventually'
import { messages, sendRequest, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'

let rig: Rig
let owner: Customer

/** The test is the proxy that the gateway trusts. */
beforeAll(async () => {
  rig = await startRig({ environment: { TRUSTED_PROXIES: '127.0.0.1' } })
  owner = await rig.gateway.customer({ permissions: ['admin'] })
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

async function newKey(fields: Json) {
  const body = { name: 'Servers', ...fields }
  const created = await call(rig.gateway, owner, 'POST /account/keys', body)
  if (created.status !== 201) throw new Error(created.text)
  return { id: String(created.body['id']), key: String(created.body['key']) }
}

const change = (id: string, fields: Json) =>
  call(rig.gateway, owner, `PATCH /account/keys/${id}`, fields)

interface From {
  key: string
  /** `X-Forwarded-For`. */
  forwarded: string
  request?: string
  /** Of a request other than GET; without it, a short chat. */
  body?: Json
}

const chat = { model: 'sandbox/echo', messages }

function send({ key, forwarded, request = 'POST /v1/chat/completions', body = chat }: From) {
  const [method = '', path = ''] = request.split(' ')
  return sendRequest(rig.gateway, {
    key,
    path,
    method,
    headers: { 'x-forwarded-for': forwarded },
    ...(method !== 'GET' && { body }),
  })
}

const networks = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7']

describe('a key with allowed addresses', () => {
  let id: string
  let key: string
  beforeAll(async () => {
    ;({ id, key } = await newKey({ permissions: ['admin'], allowed_addresses: networks }))
  })

  test.each([
    ['203.0.113.1'],
    ['203.0.113.255'],
    ['2001:db8:1::5'],
    ['198.51.100.7'],
    ['::ffff:203.0.113.9'],
  ])('is accepted from %s', async (forwarded) => {
    expect((await send({ key, forwarded })).status).toBe(200)
  })

  test.each([
    ['203.0.114.1', '203.0.114.1'],
    ['198.51.100.8', '198.51.100.8'],
    ['2001:db9::1', '2001:db9::1'],
    // What stands before the last address is the client's own claim.
    ['203.0.113.1, 192.0.2.1', '192.0.2.1'],
    ['not an address', '127.0.0.1'],
  ])('is rejected from %s, with the address in the error', async (forwarded, address) => {
    const { status, error } = await send({ key, forwarded })
    expect(status).toBe(403)
    expect(error).toMatchObject({
      code: 'insufficient_permissions',
      message: expect.stringContaining(`from the address ${address}`),
      details: { required: ['allowed_address'], current: [address] },
    })
  })

  test.each([
    ['GET /v1/models'],
    ['POST /v1/messages'],
    ['GET /api/account/settings'],
    ['GET /api/account/keys'],
  ])('is rejected by %s from another address', async (request) => {
    const { status } = await send({ key, forwarded: '192.0.2.1', request })
    expect(status).toBe(403)
  })

  test('creates and changes no key and rotates no other, from its own addresses either', async () => {
    const path = '/api/account/keys'
    const other = `${path}/${(await newKey({})).id}`
    for (const [request, body] of [
      [`POST ${path}`, { name: 'Free' }],
      [`PATCH ${other}`, { permissions: ['admin'] }],
      [`PATCH ${path}/${id}`, { allowed_addresses: null }],
      [`POST ${other}/rotate`, {}],
    ] as const) {
      const rejected = await send({ key, forwarded: '203.0.113.1', request, body })
      expect([request, ...problem(rejected)]).toEqual([request, 400, null, 'not_allowed'])
    }
  })

  test('leaves the other keys of its account as they are', async () => {
    expect((await send({ key: owner.key, forwarded: '192.0.2.1' })).status).toBe(200)
  })
})

test('the addresses of a key are shown, changed and removed, in force soon after', async () => {
  const { id, key } = await newKey({ allowed_addresses: ['192.0.2.1', '192.0.2.1', '10.0.0.0/8'] })
  const keys = listIn(await call(rig.gateway, owner, 'GET /account/keys'), 'keys')
  const shown = keys.find((each) => each['id'] === id)
  expect(shown?.['allowed_addresses']).toEqual(['192.0.2.1', '10.0.0.0/8'])
  const isAccepted = async (forwarded: string) => (await send({ key, forwarded })).status === 200
  expect(await isAccepted('192.0.2.1')).toBe(true)
  const moved = await change(id, { allowed_addresses: ['192.0.2.2'] })
  expect(moved.body['allowed_addresses']).toEqual(['192.0.2.2'])
  await eventually(async () => !(await isAccepted('192.0.2.1')))
  expect(await isAccepted('192.0.2.2')).toBe(true)
  const freed = await change(id, { allowed_addresses: null })
  expect(freed.body['allowed_addresses']).toBeNull()
  await eventually(() => isAccepted('192.0.2.1'))
})

test.each<[unknown, string, string]>([
  [[], 'allowed_addresses', 'empty'],
  [['office'], 'allowed_addresses.0', 'bad_format'],
  [['10.0.0.0/33'], 'allowed_addresses.0', 'bad_format'],
  [['10.0.0.1', '::1/129'], 'allowed_addresses.1', 'bad_format'],
  [['10.0.0.1-10.0.0.9'], 'allowed_addresses.0', 'bad_format'],
  [Array.from({ length: 51 }, (_, nth) => `10.0.0.${nth}`), 'allowed_addresses', 'too_many'],
  ['10.0.0.1', 'allowed_addresses', 'wrong_type'],
])('allowed_addresses %j is rejected', async (addresses, param, issue) => {
  const body = { name: 'Wrong', allowed_addresses: addresses }
  const refused = await call(rig.gateway, owner, 'POST /account/keys', body)
  expect(problem(refused)).toEqual([400, param, issue])
})
