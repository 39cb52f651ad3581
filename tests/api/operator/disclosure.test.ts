import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type Gateway } from '../../harness/server'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

const read = (path: string, method = 'GET') =>
  fetch(`${gateway.url}/api/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })

async function recordedAbout(userId: string) {
  const answer = await read(`/audit-trail?object_id=${userId}&search=export`)
  const { changes } = JSON.parse(await answer.text())
  return changes
}

test('N7: an export of an account is in the audit log, before its first byte goes out', async () => {
  const { userId } = await gateway.customer()
  const exported = await read(`/users/${userId}/export`)
  expect(exported.status).toBe(200)
  expect(await recordedAbout(userId)).toEqual([
    expect.objectContaining({
      actor: 'operator_key',
      method: 'GET',
      route: '/api/admin/users/:id/export',
      object_kind: 'user',
      object_id: userId,
      request_id: exported.headers.get('x-request-id'),
      client_address: '127.0.0.1',
    }),
  ])
  await exported.text()
  expect(await recordedAbout(userId)).toHaveLength(1)
})

test('N7: requests that disclosed nothing are absent: a HEAD, an unknown account, any other read', async () => {
  const { userId } = await gateway.customer()
  await read(`/users/${userId}/export`, 'HEAD')
  await (await read(`/users/user_00000000000000000000000000/export`)).text()
  for (const path of [`/users/${userId}`, `/users/${userId}/keys`, '/users?search=export']) {
    expect((await read(path)).status).toBe(200)
  }
  expect(await recordedAbout(userId)).toEqual([])
  expect(await recordedAbout('user_00000000000000000000000000')).toEqual([])
})
