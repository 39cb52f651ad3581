import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest, messages, type Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { sendIdempotent, callsOf, chatOf, isReplay, newKey } from './keyed'
import { recordFigure } from '../../../server/testing/figures'
import { eventually } from '../../../server/testing/eventually'

let rig: Rig
let customer: Customer

beforeAll(async () => {
  rig = await startRig({ provider: { options: { embeddings: { tokenArrays: false } } } })
  customer = await rig.gateway.customer()
})
afterAll(async () => {
  rig.gateway.recorder.verify()
  await rig[Symbol.asyncDispose]()
})

const keyed = async (key: string, name: string, fields: Json = {}) =>
  sendIdempotent(rig.gateway, { customer, key, body: await chatOf(rig, name, fields) })

const reused = {
  code: 'invalid_request',
  param: 'Idempotency-Key',
  details: { issue: 'key_reused' },
}

describe('a key', () => {
  test.each([
    ['of 255 characters', 'k'.repeat(255)],
    ['of one', '~'],
    ['with a space within', 'order 1042'],
  ])('%s is taken', async (_name, key) => {
    expect((await keyed(key, 'ok')).status).toBe(200)
    expect(isReplay(await keyed(key, 'ok'))).toBe(true)
  })

  test.each([
    ['as an empty value', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a letter beyond ASCII', 'clé'],
    ['with a tab within', 'a\tb'],
  ])('%s is rejected', async (_name, key) => {
    rig.upstream.reset()
    const refused = await keyed(key, 'ok')
    expect(refused.status).toBe(400)
    expect(refused.error).toMatchObject({
      code: 'invalid_request',
      param: 'Idempotency-Key',
      details: { issue: 'bad_format' },
    })
    expect(callsOf(rig, 'ok')).toHaveLength(0)
  })

  test('M10: is rejected with another body, or on another path', async () => {
    const key = newKey()
    const first = await keyed(key, 'ok')
    const otherBody = await keyed(key, 'ok', { temperature: 0.5 })
    expect(otherBody.status).toBe(400)
    expect(otherBody.error).toMatchObject(reused)
    const body = { ...(await chatOf(rig, 'ok')), prompt: 'x' }
    const path = '/v1/completions'
    const otherPath = await sendIdempotent(rig.gateway, { customer, key, path, body })
    expect(otherPath.error).toMatchObject(reused)
    expect((await keyed(key, 'ok')).text).toBe(first.text)
  })

  test('M10: is rejected with another body while the first request runs, too', async () => {
    const key = newKey()
    const answered: string[] = []
    const first = keyed(key, 'held-3').finally(() => answered.push('first'))
    await eventually(() => rig.upstream.heldCount() === 1)
    const other = await keyed(key, 'held-3', { temperature: 0.5 })
    answered.push('other')
    rig.upstream.release()
    expect(other.error).toMatchObject(reused)
    expect((await first).status).toBe(200)
    expect(answered).toEqual(['other', 'first'])
    recordFigure('M10: refusing another body', other.tookMs, { unit: 'ms', atMost: 250 })
  })

  test('M10: from another account is another key; from another key of the account it is not', async () => {
    const key = newKey()
    const first = await keyed(key, 'ok')
    const stranger = await rig.gateway.customer()
    const body = await chatOf(rig, 'ok')
    const theirs = await sendIdempotent(rig.gateway, { customer: stranger, key, body })
    expect(theirs.status).toBe(200)
    expect(isReplay(theirs)).toBe(false)
    expect(theirs.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    const path = `/users/${customer.userId}/keys`
    const made = await rig.gateway.admin('POST', path, { name: 'second' })
    const second = { ...customer, key: String(made['key']) }
    expect(isReplay(await sendIdempotent(rig.gateway, { customer: second, key, body }))).toBe(true)
  })

  test('does nothing on a GET', async () => {
    const headers = { 'idempotency-key': 'clé' }
    const list = await sendRequest(rig.gateway, {
      method: 'GET',
      path: '/v1/models',
      key: customer.key,
      headers,
    })
    expect(list.status).toBe(200)
  })
})

describe('a request refused before it was sent leaves its key free', () => {
  const refused: [string, number, Json][] = [
    ['a field', 400, { messages: 1 }],
    ['an unknown model', 404, { model: 'fake/none' }],
    ['an output limit', 400, { max_tokens: 1_000_000 }],
  ]
  test.each(refused)('for %s', async (_name, status, fields) => {
    const key = newKey()
    const first = await keyed(key, 'ok', fields)
    expect(first.status).toBe(status)
    const corrected = await keyed(key, 'ok')
    expect(corrected.status).toBe(200)
    expect(isReplay(corrected)).toBe(false)
  })

  test('for want of credit: once there is some, the same request runs', async () => {
    const poor = await rig.gateway.customer({}, { credit: 0 })
    const key = newKey()
    const body = await chatOf(rig, 'ok')
    const ask = () => sendIdempotent(rig.gateway, { customer: poor, key, body })
    expect((await ask()).status).toBe(402)
    const grant = { user_id: poor.userId, amount: 5, reason: 'test' }
    await rig.gateway.admin('POST', '/credits/grant', grant)
    expect((await ask()).status).toBe(200)
  })

  test('for an unknown token id, found when a provider accepts none', async () => {
    const key = newKey()
    const path = '/v1/embeddings'
    const model = await rig.model('ok-vectors', { category: 'embedding' })
    const embed = (input: unknown) =>
      sendIdempotent(rig.gateway, { customer, key, path, body: { model, input } })
    const refused = await embed([999_999_999])
    expect(refused.error).toMatchObject({ param: 'input.0', details: { issue: 'out_of_range' } })
    expect((await embed('x')).status).toBe(200)
    expect(callsOf(rig, 'ok-vectors')).toHaveLength(1)
  })

  test('for an unreadable body, and for no key to the service', async () => {
    const key = newKey()
    const headers = { 'idempotency-key': key }
    const unreadable = await sendRequest(rig.gateway, { key: customer.key, headers, body: '{' })
    expect(unreadable.status).toBe(400)
    const stranger = await sendRequest(rig.gateway, {
      headers,
      body: { model: 'fake/ok', messages },
    })
    expect(stranger.status).toBe(401)
    expect((await keyed(key, 'ok')).status).toBe(200)
  })
})
