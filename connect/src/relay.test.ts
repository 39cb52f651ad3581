import { describe, expect, test } from 'bun:test'
import { apiKey, Fixture } from './agent-fixture-for-tests'
import { endless, readSome } from './endless-for-tests'
import { requestFrame } from './tollgate-for-tests'

const sse = { headers: { 'content-type': 'text/event-stream' } }
const textOf = (frames: readonly { type: string; data?: string }[]) =>
  frames.map(({ data = '' }) => data).join('')

describe('a request', () => {
  test('goes to the server with its own key and the name of the model, and comes back in one frame', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () =>
      Response.json({ id: 'chat-1' }, { headers: { 'x-request-id': 'r1', 'set-cookie': 'a=b' } })
    const body = { model: 'somebody/llama', messages: [], odd: { kept: true } }
    tollgate.send(requestFrame('a', { body }))
    expect(await tollgate.ended('a')).toEqual([
      {
        type: 'response',
        id: 'a',
        status: 200,
        headers: { 'content-type': 'application/json;charset=utf-8', 'x-request-id': 'r1' },
        body: '{"id":"chat-1"}',
      },
    ])
    expect(server.requests).toEqual([
      {
        path: '/v1/chat/completions',
        authorization: `Bearer ${apiKey}`,
        body: { ...body, model: 'llama' },
      },
    ])
  })

  test('returns a streamed answer in chunks, the headers on the first', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () => new Response('data: 1\n\ndata: [DONE]\n\n', sse)
    tollgate.send(requestFrame('a', { stream: true }))
    const frames = await tollgate.ended('a')
    expect(frames[0]).toMatchObject({
      type: 'chunk',
      headers: { 'content-type': 'text/event-stream' },
    })
    expect(textOf(frames)).toBe('data: 1\n\ndata: [DONE]\n\n')
    expect(frames.at(-1)).toEqual({ type: 'response', id: 'a', status: 200 })
  })

  test('with a long plain answer comes back in chunks too', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    const long = JSON.stringify({ text: 'é'.repeat(150_000) })
    server.answer = () => new Response(long)
    tollgate.send(requestFrame('a', { window: 1_000_000 }))
    const frames = await tollgate.ended('a')
    expect(textOf(frames)).toBe(long)
    expect(frames.length).toBeGreaterThan(4)
    for (const frame of frames) {
      if (frame.type === 'chunk') expect(Buffer.byteLength(frame.data)).toBeLessThanOrEqual(65_536)
    }
  })

  test('with an answer of control characters keeps to the size of a frame', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () => new Response('\u0001'.repeat(250_000))
    tollgate.send(requestFrame('a'))
    expect(textOf(await tollgate.ended('a'))).toHaveLength(250_000)
    expect(tollgate.opened).toBe(1)
  })

  test('with an empty answer ends', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () => new Response('', sse)
    tollgate.send(requestFrame('a', { stream: true }))
    expect(await tollgate.ended('a')).toMatchObject([{ type: 'response', status: 200 }])
  })

  test.each([400, 401, 404, 429, 500, 503])(
    'passes an answer of status %d on in one frame',
    async (status) => {
      await using fixture = await Fixture.open()
      const { tollgate, server } = fixture
      const headers = { 'retry-after': '7' }
      server.answer = () =>
        new Response(`bad key ${apiKey}${'x'.repeat(200_000)}`, { status, headers })
      tollgate.send(requestFrame('a', { stream: true }))
      const [frame, ...others] = await tollgate.ended('a')
      expect(others).toEqual([])
      expect(frame).toMatchObject({ type: 'response', status, headers })
      const body = frame?.type === 'response' ? (frame.body ?? '') : ''
      expect(body).toStartWith('bad key [secret]xxx')
      expect(body.length).toBeLessThanOrEqual(65_536)
    },
  )

  test.each([
    ['another provider', { provider: 'openai' }],
    ['a model that was not announced', { model: 'secret-model' }],
    ['another path', { path: '/../api/delete' }],
    ['the list of models', { path: '/models' }],
  ])('for %s is rejected without an upstream request', async (_what, own) => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    tollgate.send(requestFrame('a', own))
    expect(await tollgate.ended('a')).toMatchObject([
      { type: 'error', code: 'not_served', sent: false },
    ])
    expect(server.requests).toEqual([])
  })
})

describe('a server', () => {
  test('is reported as unreached when it refuses connections', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server[Symbol.dispose]()
    tollgate.send(requestFrame('a'))
    expect(await tollgate.ended('a')).toMatchObject([
      { type: 'error', code: 'connection_failed', sent: false },
    ])
    // Its address must not leave this machine.
    expect(JSON.stringify(tollgate.frames.at(-1))).not.toContain('127.0.0.1')
  })

  test('may have answered, and is reported so, after a disconnect midway', async () => {
    const die = Promise.withResolvers<void>()
    using dying = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket, bytes) => {
          if (bytes.toString().startsWith('GET')) {
            socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
            return
          }
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
          void die.promise.then(() => socket.terminate())
        },
      },
    })
    // It has no list of models, so the allowed ones are announced.
    const own = { baseUrl: `http://127.0.0.1:${dying.port}/v1`, models: ['llama'] }
    await using fixture = await Fixture.open(own)
    const { tollgate } = fixture
    tollgate.send(requestFrame('a', { stream: true }))
    await tollgate.until(() => textOf(tollgate.of('chunk')) === 'hello', 'the beginning')
    die.resolve()
    const frames = await tollgate.ended('a')
    expect(textOf(frames)).toBe('hello')
    expect(frames.at(-1)).toMatchObject({ type: 'error', code: 'connection_failed', sent: true })
  })

  test('is abandoned when it takes too long', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () => new Promise(() => undefined)
    tollgate.send(requestFrame('a', { timeout_ms: 2000 }))
    expect(await tollgate.ended('a')).toMatchObject([{ type: 'error', code: 'request_timeout' }])
    await tollgate.until(() => server.aborted === 1, 'the abort')
  })

  test('with an endless answer is abandoned in time, also without a reader', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () => new Response(endless('x'.repeat(10_000)).body, sse)
    tollgate.send(requestFrame('a', { stream: true, timeout_ms: 6000, window: 20_000 }))
    const frames = await tollgate.ended('a')
    expect(textOf(frames)).toHaveLength(20_000)
    expect(frames.at(-1)).toMatchObject({ type: 'error', code: 'request_timeout' })
  })
})

describe('the window', () => {
  test('is never exceeded, and stops reading from the server', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    const { body, count } = endless('€'.repeat(1000))
    server.answer = () => new Response(body, sse)
    tollgate.send(requestFrame('a', { stream: true, window: 100_000, timeout_ms: 600_000 }))
    const sent = () => Buffer.byteLength(textOf(tollgate.of('chunk')))
    await tollgate.until(() => sent() > 99_990, 'a full window')
    // Another answer of the server is read meanwhile; of this one the system's buffers fill, and no more.
    const other = endless('€'.repeat(1000))
    server.answer = () => new Response(other.body, sse)
    await readSome(`${server.baseUrl}/chat/completions`, 64_000_000)
    expect(sent()).toBeLessThanOrEqual(100_000)
    expect(count.bytes).toBeLessThan(16_000_000)
    tollgate.send({ type: 'window', id: 'a', bytes: 50_000 })
    await tollgate.until(() => sent() > 149_990, 'what was granted')
    expect(sent()).toBeLessThanOrEqual(150_000)
    tollgate.send({ type: 'cancel', id: 'a' })
    await tollgate.until(() => server.aborted === 2, 'both aborts')
  })

  test('smaller than an answer in one frame is respected', async () => {
    await using fixture = await Fixture.open()
    const { tollgate, server } = fixture
    server.answer = () => new Response('12345678')
    tollgate.send(requestFrame('a', { window: 5 }))
    await tollgate.until(() => textOf(tollgate.of('chunk')) === '12345', 'the first part')
    tollgate.send({ type: 'window', id: 'a', bytes: 5 })
    const frames = await tollgate.ended('a')
    expect(textOf(frames)).toBe('12345678')
    expect(frames.at(-1)).toEqual({ type: 'response', id: 'a', status: 200 })
  })
})

test('a stalled reader blocks none of a thousand streams', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  const { body } = endless('x'.repeat(1000))
  server.answer = () => new Response(body, sse)
  tollgate.send(requestFrame('slow', { stream: true, window: 1000 }))
  await tollgate.until(() => tollgate.of('chunk').length === 1, 'the first of the slow one')
  let open = 0
  const all = Promise.withResolvers<void>()
  server.answer = () => {
    open += 1
    if (open === 999) all.resolve()
    return new Response(
      (async function* () {
        yield 'data: 1\n\n'
        // None ends before all have begun.
        await all.promise
        yield 'data: [DONE]\n\n'
      })(),
      sse,
    )
  }
  for (let at = 0; at < 999; at += 1) tollgate.send(requestFrame(`r${at}`, { stream: true }))
  await tollgate.until(() => tollgate.of('response').length === 999, 'the end of all others')
  const texts = new Map<string, string>()
  for (const { id, data } of tollgate.of('chunk')) texts.set(id, (texts.get(id) ?? '') + data)
  expect(texts.get('slow')).toHaveLength(1000)
  texts.delete('slow')
  expect(new Set(texts.values())).toEqual(new Set(['data: 1\n\ndata: [DONE]\n\n']))
  expect(tollgate.opened).toBe(1)
})

test('a cancel ends the request at the server, and is not answered', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = () => new Promise(() => undefined)
  tollgate.send(requestFrame('a'))
  await tollgate.until(() => server.requests.length === 1)
  tollgate.send({ type: 'cancel', id: 'a' })
  tollgate.send({ type: 'cancel', id: 'nobody' })
  await tollgate.until(() => server.aborted === 1, 'the abort')
  // Its id is free again.
  server.answer = () => new Response('{}')
  tollgate.send(requestFrame('a'))
  expect(await tollgate.ended('a')).toMatchObject([{ type: 'response', status: 200 }])
})

test('a lost socket ends all running requests at the server', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = () => new Promise(() => undefined)
  for (let at = 0; at < 20; at += 1) tollgate.send(requestFrame(`r${at}`))
  await tollgate.until(() => server.requests.length === 20)
  tollgate.cut()
  await tollgate.until(() => server.aborted === 20, 'the aborts')
  await tollgate.until(() => tollgate.opened === 2, 'another socket')
  expect(tollgate.of('error')).toEqual([])
})

test('requests beyond the limit of a gateway are rejected, and running ones continue', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  const held = Promise.withResolvers<void>()
  server.answer = async () => {
    await held.promise
    return new Response('{}')
  }
  for (let at = 0; at < 1001; at += 1) tollgate.send(requestFrame(`r${at}`))
  expect(await tollgate.ended('r1000')).toMatchObject([
    { type: 'error', code: 'overloaded', sent: false },
  ])
  held.resolve()
  await tollgate.until(() => tollgate.of('response').length === 1000, 'all answers')
})
