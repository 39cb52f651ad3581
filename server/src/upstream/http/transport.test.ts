import { afterEach, describe, expect, test } from 'bun:test'
import { asking, plain, RawPeers, until, way, whole } from '../../../testing/http/raw-peers'
import { failure } from '../../../testing/http/stage'
import { Transport } from './transport'

const peers = new RawPeers()
afterEach(() => peers[Symbol.dispose]())

describe('a request', () => {
  test('is what it says: method, path, host, fields, length, body', async () => {
    const { url, came } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    const path = `${url}/a%20b?c=d#e`
    await (
      await transport.send(asking(path, { headers: { 'x-one': '1' }, body: 'Grüße' }), way)
    ).text()
    await (
      await transport.send(
        { url, method: 'GET', headers: {}, signal: AbortSignal.timeout(10_000) },
        way,
      )
    ).text()
    await (
      await transport.send(
        { url, method: 'POST', headers: {}, signal: AbortSignal.timeout(10_000) },
        { ...way, host: 'h' },
      )
    ).text()
    const host = new URL(url).host
    expect(came.map(({ text }) => text)).toEqual([
      `POST /v1/a%20b?c=d HTTP/1.1\r\nhost: ${host}\r\nx-one: 1\r\ncontent-length: 7\r\n\r\n${Buffer.from('Grüße').toString('latin1')}`,
      `GET /v1 HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      'POST /v1 HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n',
    ])
  })

  test.each(['a\r\nb: c', 'a\nb', 'a\0', 'ü', '\u{1F600}'])(
    'is not sent with a field of %j, which no message shows',
    async (value) => {
      const { url, came } = await peers.peer(({ socket }) => socket.write(plain))
      const thrown = await failure(
        new Transport().send(asking(url, { headers: { authorization: value } }), way),
      )
      expect(String(thrown)).toContain('authorization')
      expect(String(thrown)).not.toContain(value)
      await failure(new Transport().send(asking(url, { headers: { [value]: 'x' } }), way))
      expect(came).toEqual([])
    },
  )

  test('of many megabytes arrives whole, whenever its server reads it', async () => {
    let size = 0
    const { url } = await peers.peer(({ text, socket }) => {
      size += text.length
      socket.pause()
      setTimeout(() => socket.resume(), 1)
      if (text.endsWith('"end"}')) socket.write(plain)
    })
    const body = `{"x":"${'ü'.repeat(3_000_000)}","y":"end"}`
    const answer = await new Transport().send(asking(url, { body }), way)
    expect(await answer.text()).toBe('ok')
    expect(size).toBeGreaterThan(6_000_000)
  })

  test('that is answered before it was read whole has its answer, and the last on its connection', async () => {
    const { url, connections } = await peers.peer(({ socket }) => {
      socket.pause()
      socket.write(whole('too large'))
    })
    const transport = new Transport()
    const body = 'x'.repeat(20_000_000)
    for (let count = 0; count < 2; count++) {
      expect(await (await transport.send(asking(url, { body }), way)).text()).toBe('too large')
    }
    expect(connections()).toBe(2)
  })
})

describe('who gives up', () => {
  test.each([
    ['before the head', ''],
    ['within the head', 'HTTP/1.1 200 OK\r\nx'],
  ])('%s has his reason back, and the connection ends', async (_when, text) => {
    let isClosed = false
    const { url, came } = await peers.peer(({ socket }) => {
      socket.on('close', () => (isClosed = true))
      socket.write(text)
    })
    const controller = new AbortController()
    const sent = failure(new Transport().send(asking(url, { signal: controller.signal }), way))
    await until(() => came.length > 0)
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await sent).toBe(reason)
    await until(() => isClosed)
  })

  test('before it began sends nothing', async () => {
    const { url, connections } = await peers.peer(() => undefined)
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await failure(new Transport().send(asking(url, { signal }), way))).toBe(reason)
    expect(connections()).toBe(0)
  })

  test('as the connection has just been made sends nothing on it', async () => {
    const { url, came } = await peers.peer(({ socket }) => socket.write(plain))
    const reason = new Error('enough')
    let aborted = false
    // Who listens for it last has dialled: nobody is told of what happens then.
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
    expect(await failure(new Transport().send(asking(url, { signal }), way))).toBe(reason)
    expect(came).toEqual([])
  })

  test('after the end leaves the connection to others', async () => {
    const { url, connections } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    const controller = new AbortController()
    await (await transport.send(asking(url, { signal: controller.signal }), way)).text()
    controller.abort(new Error('too late'))
    expect(await (await transport.send(asking(url), way)).text()).toBe('ok')
    expect(connections()).toBe(1)
  })
})

test('a thousand answers at once from a host that nobody has asked before all arrive', async () => {
  const { url } = await peers.peer(({ socket }) => setTimeout(() => socket.write(plain), 700))
  const transport = new Transport()
  const texts = Array.from({ length: 1000 }, async () =>
    (await transport.send(asking(url), way)).text(),
  )
  expect(new Set(await Promise.all(texts))).toEqual(new Set(['ok']))
})
