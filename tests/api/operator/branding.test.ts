import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { fetchPublic } from '../catalogue/requests'
import { openDatabase } from '../../harness/database'
import type { Json } from '../../harness/http'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  gateway.recorder.verify()
  await gateway[Symbol.asyncDispose]()
})

const put = (body: Json) => sendOperatorRequest(gateway, 'PUT /branding', body)

describe('branding', () => {
  test('has defaults, is changed in part, and is visible to all at once', async () => {
    const before = await sendOperatorRequest(gateway, 'GET /branding')
    expect(before.body).toEqual({
      name: 'Tollgate',
      tagline: null,
      logo_url: null,
      favicon_url: null,
      primary_color: '#1d4ed8',
      secondary_color: '#64748b',
      support_email: null,
      terms_url: null,
      privacy_url: null,
    })
    expect((await fetchPublic(gateway, '/branding')).body).toEqual(before.body)
    const change = {
      name: ' Models & Co. ',
      tagline: 'All of them.',
      logo_url: 'https://models.example/logo.svg',
      primary_color: '#00FF7f',
      support_email: 'help@models.example',
    }
    const after = { ...before.body, ...change, name: 'Models & Co.' }
    expect((await put(change)).body).toEqual(after)
    expect((await fetchPublic(gateway, '/branding')).body).toEqual(after)
    expect((await fetchPublic(gateway, '/config')).body['name']).toBe('Models & Co.')
    const cleared = await put({ tagline: null })
    expect(cleared.body).toEqual({ ...after, tagline: null })
  })

  test.each<[Json, string | null, string]>([
    [{}, null, 'empty'],
    [{ unknown: 1 }, null, 'empty'],
    [{ name: ' ' }, 'name', 'too_short'],
    [{ name: null }, 'name', 'wrong_type'],
    [{ tagline: 'x'.repeat(201) }, 'tagline', 'too_long'],
    [{ logo_url: 'javascript:alert(1)' }, 'logo_url', 'bad_format'],
    [{ primary_color: 'red' }, 'primary_color', 'bad_format'],
    [{ support_email: 'nobody' }, 'support_email', 'bad_format'],
    [{ name: 'a\ud800' }, 'name', 'bad_format'],
    [{ tagline: 'a\0' }, 'tagline', 'bad_format'],
  ])('%j is rejected with param %p: %s', async (body, param, issue) => {
    expect(problem(await put(body))).toEqual([400, param, issue])
  })

  test('damaged in the database has its default', async () => {
    await put({ name: 'Whole', tagline: 'Whole.' })
    await using sql = await openDatabase(gateway.dataDir)
    await sql`update branding set fields = fields || '{"name": 5}'`
    const { body } = await put({ secondary_color: '#000000' })
    expect(body).toMatchObject({ name: 'Tollgate', tagline: 'Whole.', secondary_color: '#000000' })
  })

  test('can be set only by the operator', async () => {
    const { key } = await gateway.customer({ permissions: ['admin'] }, { credit: 0 })
    const response = await gateway.recorder.fetch(`${gateway.url}/api/admin/branding`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(404)
    await response.text()
  })
})
