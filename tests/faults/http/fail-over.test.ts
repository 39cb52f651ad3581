import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { freePort } from '../../harness/free-port'
import { startRig, type Rig } from '../../harness/server'
import { sendRequest, newChatClient, messages, toStream, type ChatClient } from '../../harness/http'

let rig: Rig
let client: ChatClient

beforeAll(async () => {
  rig = await startRig()
  client = await newChatClient(rig)
  const provider = { key: 'gone', name: 'Gone', adapter: 'openai', base_url: rig.upstream.url }
  await rig.gateway.admin('POST', '/providers', provider)
  await rig.gateway.admin('POST', '/connections', {
    name: 'first',
    provider: 'gone',
    api_key: 'sk-first-0123456789',
    // Reserved, so that no server of another test takes it.
    endpoint_url: `http://127.0.0.1:${freePort()}/v1`,
    priority: 1,
  })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.upstream.reset())
afterEach(() => rig.gateway.recorder.verify())

/** Asks a model of the provider whose first connection leads nowhere. */
async function askGone(name: string, stream: boolean) {
  const id = `gone/${name}`
  const model = { id, name, category: 'chat', is_free: true, context_length: 8192 }
  await rig.gateway.admin('POST', '/models', model).catch(() => undefined)
  const { key } = client.customer
  return toStream(await sendRequest(rig.gateway, { key, body: { model: id, messages, stream } }))
}

const second = (fields = {}) => ({
  name: 'second',
  provider: 'gone',
  api_key: 'sk-second-0123456789',
  endpoint_url: rig.upstream.url,
  priority: 2,
  ...fields,
})

test('U01: a provider that refuses connections is 502 connection_failed, and may be retried', async () => {
  for (const stream of [false, true]) {
    const { status, error, headers, tookMs } = await askGone('ok', stream)
    expect(status).toBe(502)
    expect(error).toMatchObject({
      type: 'gateway_error',
      code: 'connection_failed',
      param: null,
      details: {},
    })
    expect(headers.get('x-should-retry')).toBeNull()
    recordFigure(`U01: a refused connection is answered after, stream ${stream}`, tookMs, {
      unit: 'ms',
      atMost: 3500,
    })
  }
})

describe('with a second connection', () => {
  let id = ''
  beforeAll(async () => {
    id = String((await rig.gateway.admin('POST', '/connections', second()))['id'])
  })
  afterAll(() => rig.gateway.admin('DELETE', `/connections/${id}`))

  test.each([[false], [true]])(
    'U01: it serves requests that the first refused; stream %p',
    async (stream) => {
      const answer = await askGone('ok', stream)
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('All')
      expect(rig.upstream.requests()).toHaveLength(1)
    },
  )
})

const asks = async (name: string, stream: boolean) => {
  const answer = toStream(await client.chat(name, { stream }))
  return { answer, attempts: rig.upstream.requests().length }
}

describe('two connections that both answer', () => {
  let id = ''
  beforeAll(async () => {
    const fields = second({ name: 'also fake', provider: 'fake', priority: 500 })
    id = String((await rig.gateway.admin('POST', '/connections', fields))['id'])
  })
  afterAll(() => rig.gateway.admin('DELETE', `/connections/${id}`))

  test.each([
    ['status-401', 2],
    ['status-403', 2],
    ['status-404', 2],
    ['status-429', 2],
    ['status-500', 2],
    ['status-503', 2],
    ['status-400', 1],
    ['status-422', 1],
    ['html-200', 1],
    ['204', 1],
    ['302-http://127.0.0.1:9/', 1],
    ['err-first', 2],
  ])('%s is tried %i times', async (name, wanted) => {
    for (const stream of [false, true]) {
      rig.upstream.reset()
      const { answer, attempts } = await asks(name, stream)
      // A request that is wrong is the caller's to change; all else is a failure on the way.
      const isRejected = name === 'status-400' || name === 'status-422'
      if (isRejected) expect(answer.status).toBe(400)
      else expect(answer.status).toBeGreaterThanOrEqual(500)
      expect([name, stream, attempts]).toEqual([name, stream, wanted])
    }
  })

  test('each attempt goes to another connection', async () => {
    await asks('status-500', false)
    const keys = rig.upstream.requests().map(({ headers }) => headers['authorization'])
    expect(new Set(keys).size).toBe(2)
  })

  test('nothing of a second candidate is mixed into a stream that began', async () => {
    const { answer, attempts } = await asks('rst-after-5', true)
    expect(answer.error.code).toBe('connection_failed')
    expect(answer.content).toBe('w1 w2 w3 w4 w5')
    expect(attempts).toBe(1)
  })
})

test('slow-first-60000 is tried once by a gateway that does not wait for it', async () => {
  // Timers of its own, which would end what a busy machine is late with.
  await using impatient = await startRig({
    environment: { FIRST_BYTE_TIMEOUT_SECONDS: '3', REQUEST_TIMEOUT_SECONDS: '3' },
  })
  const { chat } = await newChatClient(impatient)
  const endpoint_url = impatient.upstream.url
  const fields = second({ name: 'also fake', provider: 'fake', priority: 500, endpoint_url })
  await impatient.gateway.admin('POST', '/connections', fields)
  for (const stream of [false, true]) {
    impatient.upstream.reset()
    const { status } = await chat('slow-first-60000', { stream })
    expect(status).toBeGreaterThanOrEqual(500)
    expect([stream, impatient.upstream.requests().length]).toEqual([stream, 1])
  }
})

test('S6 U19: a request on a kept connection that the provider closed goes by a new one, and is answered', async () => {
  await client.chat('stale-keepalive')
  rig.upstream.reset()
  const { status } = await client.chat('ok')
  expect(status).toBe(200)
  const answered = rig.upstream.requests().filter((seen) => seen.status === 200)
  expect(answered).toHaveLength(1)
  expect(rig.upstream.requests().length).toBeLessThanOrEqual(2)
})

test('S6: a provider that closes each connection after one answer fails no request, and opens no breaker', async () => {
  for (let count = 0; count < 30; count++) {
    const { status } = await client.chat('stale-keepalive')
    expect([count, status]).toEqual([count, 200])
  }
})
