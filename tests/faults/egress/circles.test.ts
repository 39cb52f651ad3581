import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sendRequest, messages, toStream } from '../../harness/http'
import { startGateway, startRig, type Customer, type Gateway, type Rig } from '../../harness/server'

let rig: Rig
let front: Gateway
/** Of the gateway behind, and of the one before it. */
let customers: { behind: Customer; front: Customer }

/** Makes one gateway a provider of another, as an operator may. */
async function connect(gateway: Gateway, key: string, to: { url: string; secret: string }) {
  await gateway.admin('POST', '/providers', {
    key,
    name: key,
    adapter: 'openai',
    base_url: `${to.url}/v1`,
  })
  await gateway.admin('POST', '/connections', { name: key, provider: key, api_key: to.secret })
}

const addModel = (gateway: Gateway, id: string) =>
  gateway.admin('POST', '/models', {
    id,
    name: id.slice(id.indexOf('/') + 1),
    category: 'chat',
    pricing: { input: 1, output: 4 },
  })

beforeAll(async () => {
  rig = await startRig()
  front = await startGateway()
  customers = { behind: await rig.gateway.customer(), front: await front.customer() }
  await rig.model('ok')
  await connect(front, 'behind', { url: rig.gateway.url, secret: customers.behind.key })
  await addModel(front, 'behind/fake/ok')
  await connect(front, 'mirror', { url: front.url, secret: customers.front.key })
  await addModel(front, 'mirror/mirror/x')
  await addModel(front, 'mirror/mirror/mirror/x')
})
afterAll(async () => {
  await front[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
})

test('X17: one gateway may stand behind another', async () => {
  rig.upstream.reset()
  const body = { model: 'behind/fake/ok', messages }
  const { status } = await sendRequest(front, { key: customers.front.key, body })
  expect(status).toBe(200)
  expect(rig.upstream.requests().map(({ headers }) => headers['x-tollgate-hops'])).toEqual(['2'])
})

test.each([false, true])(
  'X17: a gateway that is its own provider ends the circle, stream %p',
  async (stream) => {
    const key = customers.front.key
    const model = 'mirror/mirror/mirror/x'
    const { status, error } = toStream(
      await sendRequest(front, { key, body: { model, messages, stream } }),
    )
    expect(status).toBeGreaterThanOrEqual(400)
    expect(JSON.stringify(error)).toContain('Forwarding loop')
  },
)

test.each(['2', '3', '999', '-1', '', 'one', '1, 1', '1e0'])(
  'X17: a request whose hops are "%s" is rejected',
  async (hops) => {
    const key = customers.front.key
    const headers = { 'x-tollgate-hops': hops }
    const body = { model: 'behind/fake/ok', messages }
    const answer = await sendRequest(front, { key, headers, body })
    expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_request' } })
    expect(answer.error.details).toMatchObject({ issue: 'not_allowed' })
  },
)
