import { afterEach, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { AnswerTooLong } from './answer'
import { ConnectionFailed } from './connection-failed'
import { polled, RawPeers, requestTo, timers } from '../../../testing/http/raw-peers'
import { failure } from '../../../testing/http/peers'
import { Transport } from './transport'
import { eventually } from '../../../testing/eventually'

const peers = new RawPeers()
afterEach(() => peers[Symbol.dispose]())

describe('an answer', () => {
  test.each([1, 2, 3, 7, 50])('may come in pieces of %d bytes', async (size) => {
    const text =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n'
    const { url } = await peers.peer(async ({ socket }) => {
      socket.setNoDelay(true)
      for (let at = 0; at < text.length; at += size) {
        socket.write(text.slice(at, at + size))
        await Bun.sleep(0)
      }
    })
    const transport = new Transport()
    for (let count = 0; count < 2; count++) {
      const answer = await transport.send(requestTo(url), timers)
      expect([answer.status, answer.headers.get('X'), await answer.text()]).toEqual([
        200,
        'y',
        'onetwo',
      ])
    }
  })

  test('without an end of its own ends with its connection, in order', async () => {
    const { url } = await peers.peer(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'))
    expect(await (await new Transport().send(requestTo(url), timers)).text()).toBe('all of it')
  })

  test.each([
    ['before it began', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\nx'],
    ['in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegin'],
    ['in its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nbegin'],
    [
      'before its last chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegin\r\n',
    ],
  ])('is rejected when it breaks off %s', async (_where, text) => {
    const { url } = await peers.peer(({ socket }) => socket.end(text))
    const reading = new Transport().send(requestTo(url), timers).then((answer) => answer.text())
    expect(await failure(reading)).toMatchObject({ name: 'ConnectionFailed', connected: true })
  })

  test('is rejected after a reset, even where its end would be that of its connection', async () => {
    const { url, received } = await peers.peer(({ socket }) =>
      socket.write('HTTP/1.1 200 OK\r\n\r\npart'),
    )
    const answer = await new Transport().send(requestTo(url), timers)
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe('part')
    received[0]?.socket.resetAndDestroy()
    expect(await failure(answer.read())).toMatchObject({
      name: 'ConnectionFailed',
      connected: true,
    })
  })

  test('gives the part before its break', async () => {
    const { url, received } = await peers.peer(({ socket }) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegin'),
    )
    const answer = await new Transport().send(requestTo(url), timers)
    await eventually(() => received[0]?.socket.destroyed ?? false)
    await polled()
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe('begin')
    expect(await failure(answer.read())).toMatchObject({ connected: true })
  })

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['identity', (text: string) => Buffer.from(text)],
  ] as const)('in %s is read as it was before', async (coding, compress) => {
    const bytes = compress('what was said'.repeat(100))
    const { url } = await peers.peer(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      )
      socket.write(bytes)
    })
    expect(await (await new Transport().send(requestTo(url), timers)).text()).toBe(
      'what was said'.repeat(100),
    )
  })

  test.each([
    ['gzip', 'no gzip at all'],
    ['gzip, gzip', gzipSync(gzipSync('twice'))],
    ['rot13', 'jung'],
  ])('in %s that cannot be read fails', async (coding, body) => {
    const { url } = await peers.peer(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`,
      )
      socket.write(body)
    })
    const answer = await new Transport().send(requestTo(url), timers)
    const thrown = await failure(answer.text())
    expect(thrown).toBeInstanceOf(Error)
    // It came whole: nothing was lost.
    expect(thrown).not.toBeInstanceOf(ConnectionFailed)
  })

  test('U16: is cut at its limit if it is small only while compressed', async () => {
    const bytes = gzipSync(Buffer.alloc(50_000_000))
    const { url } = await peers.peer(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      )
      socket.write(bytes)
    })
    const answer = await new Transport().send(requestTo(url), timers)
    expect(await failure(answer.text(1_000_000))).toBeInstanceOf(AnswerTooLong)
  })

  test('S2: is cut if it is a hundred times as long as its content, in any way of reading', async () => {
    const bytes = gzipSync(Buffer.alloc(50_000_000))
    const { url } = await peers.peer(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      )
      socket.write(bytes)
    })
    const answer = await new Transport().send(requestTo(url), timers)
    let read = 0
    const reading = async () => {
      for (let piece = await answer.read(); piece; piece = await answer.read()) read += piece.length
    }
    expect(await failure(reading())).toBeInstanceOf(AnswerTooLong)
    expect(read).toBeWithin(1_000_000, 101 * bytes.length)
  })

  test('S2: may repeat itself if it is short', async () => {
    const bytes = gzipSync(Buffer.alloc(1_000_000, ' '))
    const { url } = await peers.peer(({ socket }) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      )
      socket.write(bytes)
    })
    const answer = await new Transport().send(requestTo(url), timers)
    expect((await answer.text()).length).toBe(1_000_000)
  })

  test("is abandoned above the reader's maximum", async () => {
    let isClosed = false
    const { url } = await peers.peer(({ socket }) => {
      socket.on('close', () => (isClosed = true))
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n${'x'.repeat(100_000)}`)
    })
    const answer = await new Transport().send(requestTo(url), timers)
    expect(await failure(answer.text(50_000))).toBeInstanceOf(AnswerTooLong)
    await eventually(() => isClosed)
  })
})
