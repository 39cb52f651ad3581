import { afterEach, describe, expect, test } from 'bun:test'
import { requestTo, plain, RawPeers, timers, okAnswer } from '../../../testing/http/raw-peers'
import { failure } from '../../../testing/http/peers'
import { Transport } from './transport'
import { eventually } from '../../../testing/eventually'
import { createHold } from '../../../testing/hold'

const peers = new RawPeers()
afterEach(() => peers[Symbol.dispose]())

describe('a request', () => {
  test('has the given method, path, host, fields, length and body', async () => {
    const { url, received } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    const path = `${url}/a%20b?c=d#e`
    await (
      await transport.send(requestTo(path, { headers: { 'x-one': '1' }, body: 'Grüße' }), timers)
    ).text()
    await (
      await transport.send(
        { url, method: 'GET', headers: {}, signal: AbortSignal.timeout(30_000) },
        timers,
      )
    ).text()
    await (
      await transport.send(
        { url, method: 'POST', headers: {}, signal: AbortSignal.timeout(30_000) },
        { ...timers, host: 'h' },
      )
    ).text()
    const host = new URL(url).host
    expect(received.map(({ text }) => text)).toEqual([
      `POST /v1/a%20b?c=d HTTP/1.1\r\nhost: ${host}\r\nx-one: 1\r\ncontent-length: 7\r\n\r\n${Buffer.from('Grüße').toString('latin1')}`,
      `GET /v1 HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      'POST /v1 HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n',
    ])
  })

  test('may have a body of bytes, which are sent as they are', async () => {
    const { url, received } = await peers.peer(({ socket }) => socket.write(plain))
    const { body: _text, ...request } = requestTo(url)
    const bytes = Uint8Array.from([0x1f, 0x8b, 0, 255, 128])
    await (await new Transport().send({ ...request, bytes }, timers)).text()
    const [sent] = received
    expect(sent?.text).toEndWith(
      `content-length: 5\r\n\r\n${Buffer.from(bytes).toString('latin1')}`,
    )
  })

  test.each(['a\r\nb: c', 'a\nb', 'a\0', 'ü', '\u{1F600}'])(
    'is not sent with a field of %j, which no message shows',
    async (value) => {
      const { url, received } = await peers.peer(({ socket }) => socket.write(plain))
      const thrown = await failure(
        new Transport().send(requestTo(url, { headers: { authorization: value } }), timers),
      )
      expect(String(thrown)).toContain('authorization')
      expect(String(thrown)).not.toContain(value)
      await failure(new Transport().send(requestTo(url, { headers: { [value]: 'x' } }), timers))
      expect(received).toEqual([])
    },
  )

  test('of many megabytes arrives whole, at any reading speed of its server', async () => {
    let size = 0
    const { url } = await peers.peer(({ text, socket }) => {
      size += text.length
      socket.pause()
      setImmediate(() => socket.resume())
      if (text.endsWith('"end"}')) socket.write(plain)
    })
    const body = `{"x":"${'ü'.repeat(3_000_000)}","y":"end"}`
    const answer = await new Transport().send(requestTo(url, { body }), timers)
    expect(await answer.text()).toBe('ok')
    expect(size).toBeGreaterThan(6_000_000)
  })

  test('answered before it was read whole has its answer, and the last on its connection', async () => {
    const { url, connections } = await peers.peer(({ socket }) => {
      socket.pause()
      socket.write(okAnswer('too large'))
    })
    const transport = new Transport()
    const body = 'x'.repeat(20_000_000)
    for (let count = 0; count < 2; count++) {
      expect(await (await transport.send(requestTo(url, { body }), timers)).text()).toBe(
        'too large',
      )
    }
    expect(connections()).toBe(2)
  })
})

describe('cancellation', () => {
  test.each([
    ['before the head', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\nx'],
  ])('%s rejects with its own reason, and the connection ends', async (_when, text) => {
    let isClosed = false
    const { url, received } = await peers.peer(({ socket }) => {
      socket.on('close', () => (isClosed = true))
      socket.write(text)
    })
    const controller = new AbortController()
    const sent = failure(
      new Transport().send(requestTo(url, { signal: controller.signal }), timers),
    )
    await eventually(() => received.length > 0)
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await sent).toBe(reason)
    await eventually(() => isClosed)
  })

  test('before it began sends nothing', async () => {
    const { url, connections } = await peers.peer(() => undefined)
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await failure(new Transport().send(requestTo(url, { signal }), timers))).toBe(reason)
    expect(connections()).toBe(0)
  })

  test('as the connection has just been made sends nothing on it', async () => {
    const { url, received } = await peers.peer(({ socket }) => socket.write(plain))
    const reason = new Error('enough')
    let aborted = false
    // The last listener has dialled: no listener hears of an abort after that.
    const signal = {
      get aborted() {
        return aborted
      },
      reason,
      addEventListener: () => undefined,
      removeEventListener: () => {
        aborted = true
      },
    }
    expect(await failure(new Transport().send(requestTo(url, { signal }), timers))).toBe(reason)
    expect(received).toEqual([])
  })

  test('after the end leaves the connection to others', async () => {
    const { url, connections } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    const controller = new AbortController()
    await (await transport.send(requestTo(url, { signal: controller.signal }), timers)).text()
    controller.abort(new Error('too late'))
    expect(await (await transport.send(requestTo(url), timers)).text()).toBe('ok')
    expect(connections()).toBe(1)
  })
})

test('a thousand concurrent answers from a new host all arrive', async () => {
  const { hold, heldCount, release } = createHold()
  const { url } = await peers.peer(async ({ socket }) => {
    await hold()
    socket.write(plain)
  })
  const transport = new Transport()
  const texts = Array.from({ length: 1000 }, async () =>
    (await transport.send(requestTo(url), timers)).text(),
  )
  await eventually(() => heldCount() === 1000)
  release()
  expect(new Set(await Promise.all(texts))).toEqual(new Set(['ok']))
})
