import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway[Symbol.asyncDispose]())

/** The names that the last change of an object has, by id. */
async function namesAbout(id: string): Promise<unknown> {
  const { changes } = await gateway.admin('GET', `/audit-trail?object_id=${id}&limit=1`)
  const [change] = Object(changes)
  return change.names
}

test('finding B16: the audit log names accounts, keys, plans, providers, connections and collections', async () => {
  const account = await gateway.admin('POST', '/users', { email: 'grace@example.com' })
  const id = String(account['id'])
  expect(await namesAbout(id)).toEqual({ [id]: 'grace@example.com' })
  const key = await gateway.admin('POST', `/users/${id}/keys`, { name: 'Worker' })
  const keyId = String(key['id'])
  expect(await namesAbout(keyId)).toEqual({ [id]: 'grace@example.com', [keyId]: 'Worker' })
  const own = { base_url: 'https://example.com/v1', adapter: 'openai' }
  const made = [
    ['/plans', { name: 'Gold' }, 'Gold'],
    ['/providers', { ...own, key: 'mine', name: 'My provider' }, 'My provider'],
    ['/connections', { name: 'Work', provider: 'openai', api_key: 'sk-simulated' }, 'Work'],
    [
      '/collections',
      { name: 'fast', routing_strategy: 'priority', members: [{ model_id: 'sandbox/echo' }] },
      'fast',
    ],
  ] as const
  for (const [path, body, name] of made) {
    const { id: created } = await gateway.admin('POST', path, body)
    expect([path, await namesAbout(String(created))]).toEqual([path, { [String(created)]: name }])
  }
})

test('finding B16: a deleted object has no name, and no part of its name is stored', async () => {
  const { id } = await gateway.admin('POST', '/plans', { name: 'Silver' })
  await gateway.admin('DELETE', `/plans/${String(id)}`)
  expect(await namesAbout(String(id))).toEqual({})
})
