import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, type Gateway, type Rig } from '../../harness/server'
import { providers as registry } from '../../../server/src/providers/registry'

let rig: Rig
let gateway: Gateway
const secret = 'gsk_canary_0123456789abcdef'

beforeAll(async () => {
  rig = await startRig({
    environment: { GROQ_API_KEY: secret, GROQ_BASE_URL: 'http://127.0.0.1:9/openai/v1/' },
  })
  gateway = rig.gateway
  gateway.recorder.canary(secret)
})
afterAll(async () => {
  gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

interface Row extends Record<string, unknown> {
  id: string
}

/** Every row of a list, page by page. */
async function listAll(list: 'connections' | 'providers', query = ''): Promise<Row[]> {
  const rows: Row[] = []
  let cursor = ''
  for (;;) {
    const page = await sendOperatorRequest(gateway, `GET /${list}?limit=7${query}${cursor}`)
    expect(page.status).toBe(200)
    const { [list]: some, pagination } = JSON.parse(JSON.stringify(page.body))
    rows.push(...some)
    expect(pagination.has_more).toBe(pagination.next_cursor !== null)
    if (pagination.next_cursor === null) {
      expect(pagination.total).toBe(rows.length)
      return rows
    }
    cursor = `&cursor=${pagination.next_cursor}`
  }
}

const find = async () => {
  const [found] = await listAll('connections', '&search=groq')
  if (!found) throw new Error('it is not listed')
  return found
}

describe('finding S10: a connection of the environment', () => {
  test('is listed after the stored ones, with its source and without its secret', async () => {
    const rows = await listAll('connections')
    expect(rows.map(({ name, source }) => [name, source])).toEqual([
      ['fake', 'stored'],
      ['GROQ_API_KEY', 'environment'],
      [expect.any(String), 'built_in'],
    ])
    expect(await find()).toMatchObject({
      name: 'GROQ_API_KEY',
      provider: 'groq',
      endpoint_url: 'http://127.0.0.1:9/openai/v1',
      scope: 'platform',
      status: 'active',
      source: 'environment',
      api_key_prefix: secret.slice(0, 6),
      created_at: null,
      updated_at: null,
    })
  })

  test('can be read by its id, and tested', async () => {
    const { id, ...fields } = await find()
    const one = await sendOperatorRequest(gateway, `GET /connections/${id}`)
    expect([one.status, one.body]).toEqual([200, { id, ...fields }])
    const tested = await sendOperatorRequest(gateway, `POST /connections/${id}/test`)
    expect([tested.status, tested.body]).toMatchObject([200, { success: false, status: 'error' }])
  })

  test('cannot be changed here: the error names the place', async () => {
    const { id } = await find()
    const changes: [string, object?][] = [
      [`PUT /connections/${id}`, { name: 'x' }],
      [`DELETE /connections/${id}`],
      [`POST /connections/${id}/update-key`, { api_key: 'x' }],
    ]
    for (const [request, body] of changes) {
      const refused = await sendOperatorRequest(gateway, request, body)
      expect([request, ...problem(refused)]).toEqual([request, 400, null, 'wrong_state'])
      expect(refused.error?.message).toContain('GROQ_API_KEY')
    }
    expect(await find()).toMatchObject({ id, name: 'GROQ_API_KEY' })
  })
})

describe('finding S10: the providers that come with Tollgate', () => {
  test('are listed behind the added ones, every one once, by pages too', async () => {
    const rows = await listAll('providers')
    expect(rows.map(({ key, built_in }) => [key, built_in])).toEqual([
      ['fake', false],
      ...registry.map(({ key }) => [key, true]),
    ])
    const byOffset = []
    for (let offset = 0; offset < rows.length; offset += 5) {
      const { body } = await sendOperatorRequest(gateway, `GET /providers?limit=5&offset=${offset}`)
      byOffset.push(...JSON.parse(JSON.stringify(body['providers'])))
    }
    expect(byOffset).toEqual(rows)
  })

  test('are found by search, and read by their key', async () => {
    const [openai] = await listAll('providers', '&search=OPENAI')
    expect(openai).toMatchObject({ id: 'openai', key: 'openai', built_in: true, enabled: true })
    const one = await sendOperatorRequest(gateway, 'GET /providers/openai')
    expect([one.status, one.body]).toEqual([200, openai ?? {}])
  })

  test('cannot be changed, and the error names the alternatives', async () => {
    for (const [request, body] of [
      ['PUT /providers/openai', { name: 'x' }],
      ['DELETE /providers/openai', undefined],
    ] as const) {
      const refused = await sendOperatorRequest(gateway, request, body)
      expect([request, ...problem(refused)]).toEqual([request, 400, null, 'wrong_state'])
      expect(refused.error?.message).toContain('is built in')
    }
  })
})
