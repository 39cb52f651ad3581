import { afterEach, describe, expect, test } from 'bun:test'
import { requestTo, plain, RawPeers, timers, okAnswer } from '../../../testing/http/raw-peers'
import { Transport } from './transport'
import { eventually } from '../../../testing/eventually'
import { createHold } from '../../../testing/hold'
import { TestClock } from '../../../testing/clock'

const peers = new RawPeers()
afterEach(() => peers[Symbol.dispose]())

describe('one connection', () => {
  test('serves one request after the other', async () => {
    const { url, received, connections } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    for (let count = 0; count < 5; count++) {
      expect(await (await transport.send(requestTo(url), timers)).text()).toBe('ok')
    }
    expect([received.length, connections()]).toEqual([5, 1])
  })

  test('serves one request at a time: others in the meantime have their own', async () => {
    const { hold, heldCount, release } = createHold()
    const { url, connections } = await peers.peer(async ({ socket }) => {
      await hold()
      socket.write(plain)
    })
    const transport = new Transport()
    const texts = Array.from({ length: 4 }, async () =>
      (await transport.send(requestTo(url), timers)).text(),
    )
    await eventually(() => heldCount() === 4)
    release()
    expect(await Promise.all(texts)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(connections()).toBe(4)
  })

  test('serves one owner', async () => {
    const { url, connections } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    for (const owner of ['a', 'b', 'a', 'b']) {
      await (await transport.send(requestTo(url), { ...timers, owner })).text()
    }
    expect(connections()).toBe(2)
  })

  test.each([
    ['its server announces the end', okAnswer('ok', 'connection: close'), 'ok'],
    [
      'more bytes came than requested',
      `${plain}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad`,
      'ok',
    ],
    [
      'the answer has two ends',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'ok',
    ],
  ])('ends where %s', async (_why, answer, text) => {
    const { url, connections } = await peers.peer(({ socket }) => socket.write(answer))
    const transport = new Transport()
    for (let count = 0; count < 3; count++) {
      expect(await (await transport.send(requestTo(url), timers)).text()).toBe(text)
    }
    expect(connections()).toBe(3)
  })

  test('ends at an unsolicited answer, which is never used', async () => {
    const { url, connections, received } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    await (await transport.send(requestTo(url), timers)).text()
    let isClosed = false
    received[0]?.socket.on('close', () => (isClosed = true))
    received[0]?.socket.write(okAnswer('poison'))
    await eventually(() => isClosed)
    expect(await (await transport.send(requestTo(url), timers)).text()).toBe('ok')
    expect(connections()).toBe(2)
  })

  test('U19: is not used again after its server closed it', async () => {
    const { url, connections, received } = await peers.peer(({ socket }) => socket.write(plain))
    const transport = new Transport()
    await (await transport.send(requestTo(url), timers)).text()
    received[0]?.socket.end()
    await eventually(() => received[0]?.socket.readableEnded ?? false)
    expect(await (await transport.send(requestTo(url), timers)).text()).toBe('ok')
    expect(connections()).toBe(2)
  })

  test.each([
    ['timeout=3', 1999, 1],
    ['timeout=3', 2000, 2],
    ['timeout=1', 0, 2],
    ['max=100', 29_999, 1],
    ['max=100', 30_000, 2],
  ])(
    'U19: with "keep-alive: %s" it is idle for %i ms; then there are %i',
    async (header, ms, count) => {
      const answer = okAnswer('ok', `keep-alive: ${header}`)
      const { url, connections } = await peers.peer(({ socket }) => socket.write(answer))
      const clock = new TestClock()
      const transport = new Transport({ clock })
      await (await transport.send(requestTo(url), timers)).text()
      await clock.advance(ms)
      expect(await (await transport.send(requestTo(url), timers)).text()).toBe('ok')
      expect(connections()).toBe(count)
    },
  )

  test('is not kept alive for an unread answer', async () => {
    let isClosed = false
    const { url } = await peers.peer(({ socket }) => {
      socket.on('close', () => (isClosed = true))
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegin')
    })
    const answer = await new Transport().send(requestTo(url), timers)
    answer.cancel()
    answer.cancel()
    expect(await answer.read()).toBeUndefined()
    await eventually(() => isClosed)
  })
})
