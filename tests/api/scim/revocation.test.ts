import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scimClient, type ScimClient } from './fixture'
import { Browser, linksFor } from '../../harness/browser-session'
import { openDatabase, startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import { connectProvider } from '../../harness/nodes'
import type { Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'
import { eventually } from '../../../server/testing/eventually'

/** Source: contract 2.6: a user that the identity provider deactivates or deletes has no access on any node. */

let nodes: TwoNodes
let upstream: FakeProvider
let directory: ScimClient

beforeAll(async () => {
  upstream = await startFakeProvider()
  nodes = await startTwoNodes()
  await connectProvider(nodes.a, upstream)
  const body = { name: 'Okta', domains: ['corp.example'] }
  const { id, token } = await nodes.a.admin('POST', '/scim-directories', body)
  directory = scimClient(nodes.a, String(id), String(token))
  await addModel()
})
afterAll(async () => {
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

const model = 'fake/held-event'

async function addModel(): Promise<void> {
  const pricing = { input: 1, output: 4 }
  const limits = { context_length: 8192, max_output_tokens: 4096 }
  await nodes.a.admin('POST', '/models', {
    id: model,
    name: 'Held',
    category: 'chat',
    ...limits,
    pricing,
  })
}

async function keyOf(userId: string): Promise<string> {
  await nodes.a.admin('POST', '/credits/grant', { user_id: userId, amount: 10, reason: 'test' })
  const { key } = await nodes.a.admin('POST', `/users/${userId}/keys`, { name: 'One' })
  return String(key)
}

const modelsOn = async (gateway: Gateway, key: string) =>
  (await sendRequest(gateway, { method: 'GET', path: '/v1/models', key })).text
const statusOn = async (gateway: Gateway, key: string) =>
  (await sendRequest(gateway, { method: 'GET', path: '/v1/models', key })).status

test.each([
  [
    'deactivated',
    (id: string) =>
      directory.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' }),
  ],
  ['deleted', (id: string) => directory.send(`DELETE /Users/${id}`)],
])(
  'a user is %s while a stream runs: the stream ends and is paid, and both nodes reject the keys',
  async (how, end) => {
    const userId = await directory.user(`${how}@corp.example`)
    const key = await keyOf(userId)
    // The other node knows the model and the key.
    await eventually(async () => (await modelsOn(nodes.b, key)).includes(model))
    const waiting = upstream.heldCount()
    const body: Json = { model, messages, stream: true }
    const answering = sendRequest(nodes.b, { key, body })
    await eventually(() => upstream.heldCount() === waiting + 1)
    expect((await end(userId)).status).toBeOneOf([200, 204])
    // At once on the node that answered, and on the other one once it has heard of it.
    expect(await statusOn(nodes.a, key)).toBe(401)
    await eventually(async () => (await statusOn(nodes.b, key)) === 401)
    upstream.release()
    const answer = await answering
    expect([answer.status, answer.text.includes('[DONE]')]).toEqual([200, true])
    await eventually(async () => {
      const { balance } = await nodes.a.admin('GET', `/users/${userId}`)
      return Number(balance) < 10
    })
    const logs = await nodes.a.admin('GET', `/request-logs?user_id=${userId}`)
    expect(logs['logs']).toMatchObject([{ model }])
  },
)

const isSignedIn = async (browser: Browser) =>
  (await browser.send('GET /api/account/settings')).status === 200

test('sessions end, and none begins, until the user is active again', async () => {
  const email = 'session@corp.example'
  const userId = await directory.user(email)
  const signIn = async () => {
    const browser = new Browser(nodes.b)
    const { link } = await nodes.a.admin('POST', `/users/${userId}/sign-in-link`)
    await browser.send(`GET ${String(link)}`)
    return browser
  }
  const browser = await signIn()
  expect(await isSignedIn(browser)).toBe(true)
  await directory.patch(`/Users/${userId}`, { op: 'replace', value: { active: false } })
  await eventually(async () => !(await isSignedIn(browser)))
  await using sql = await openDatabase(nodes.a.dataDir)
  await sql`delete from auth_rate_limit`
  await new Browser(nodes.b).send('POST /api/auth/sign-in/magic-link', { email })
  expect(await linksFor(sql, email)).toEqual([])
  await directory.patch(`/Users/${userId}`, { op: 'replace', value: { active: true } })
  expect(await isSignedIn(browser)).toBe(false)
  expect(await isSignedIn(await signIn())).toBe(true)
})
