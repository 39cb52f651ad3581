import { afterEach, expect, test } from 'bun:test'
import {
  openRaw,
  parseResponse,
  rawRequest,
  type RawClient,
  type RawResponse,
} from '../../harness/raw-client'
import { eventually } from '../../../server/testing/eventually'
import { recordTimeFigure } from '../../../server/testing/figures'

/**
 * What the runtime's HTTP server does, and Tollgate relies on; contract 13.4. A test that fails
 * after an upgrade of Bun names the assumption that is gone.
 */

type Handler = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>

type Source = Bun.UnderlyingSource<string>

/** Every request that reached a handler; a request's own headers are gone once it is answered. */
const seen: { method: string; headers: Headers }[] = []
const failures: unknown[] = []
const open: Disposable[] = []

afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
  seen.length = 0
  failures.length = 0
})

function serve(handler: Handler, maxRequestBodySize = 1024): Bun.Server<undefined> {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    maxRequestBodySize,
    fetch(request, own) {
      seen.push({ method: request.method, headers: new Headers(request.headers) })
      return handler(request, own)
    },
    error(thrown) {
      failures.push(thrown)
      return new Response(null, { status: 500 })
    },
  })
  open.push({ [Symbol.dispose]: () => void server.stop(true) })
  return server
}

async function opened(server: Bun.Server<undefined>): Promise<RawClient> {
  const client = await openRaw(server.url.href)
  open.push(client)
  return client
}

async function raw(server: Bun.Server<undefined>, bytes: string): Promise<RawResponse> {
  const client = await opened(server)
  await client.send(bytes)
  return await client.response()
}

const hello: Handler = () => new Response('hello')
const get = (path = '/') => rawRequest({ method: 'GET', path })

test.each([
  [
    'two different lengths',
    400,
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  ],
  [
    'a length beside chunks',
    400,
    'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a length other than a number', 400, 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: x\r\n\r\n'],
  ['a header without a colon', 400, 'GET / HTTP/1.1\r\nhost: h\r\nnonsense\r\n\r\n'],
  ['a length above the limit', 413, 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1025\r\n\r\n'],
  [
    'headers of more than 16 KB',
    431,
    `GET / HTTP/1.1\r\nhost: h\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
  ],
  ['more than 198 headers', 431, `GET / HTTP/1.1\r\nhost: h\r\n${'x: y\r\n'.repeat(198)}\r\n`],
  ['another version of HTTP', 505, 'GET / HTTP/3.0\r\nhost: h\r\n\r\n'],
])(
  '%s: the parser answers %d without a body and closes; no handler is called',
  async (_what, status, bytes) => {
    const server = serve(hello)
    const client = await opened(server)
    await client.send(bytes)
    const ending = await client.ended
    expect(parseResponse(client.read())).toMatchObject({ status, body: Buffer.alloc(0) })
    expect(ending).toBe('fin')
    expect([seen.length, failures.length]).toEqual([0, 0])
  },
)

test('two equal lengths pass, and arrive as one text', async () => {
  const server = serve(async (request) => new Response(await request.text()))
  const lines = 'content-length: 2\r\ncontent-length: 2\r\n'
  const { status, body } = await raw(server, `POST / HTTP/1.1\r\nhost: h\r\n${lines}\r\nab`)
  expect([status, body.toString()]).toEqual([200, 'ab'])
  expect(seen[0]?.headers.get('content-length')).toBe('2, 2')
})

test('two equal headers arrive as one, joined by a comma', async () => {
  const server = serve(hello)
  const lines = 'host: a\r\nhost: b\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n'
  await raw(server, `GET / HTTP/1.1\r\n${lines}\r\n`)
  expect(seen[0]?.headers.get('host')).toBe('a, b')
  expect(seen[0]?.headers.get('authorization')).toBe('Bearer a, Bearer b')
})

test.each([
  ['an odd one', 'GET / HTTP/1.1\r\nhost: a/#@b\r\n\r\n'],
  ['none in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
])('Host: with %s a request arrives whose URL cannot be parsed', async (_what, bytes) => {
  const server = serve(({ url }) => new Response(String(URL.canParse(url))))
  const { status, body } = await raw(server, bytes)
  expect([status, body.toString()]).toEqual([200, 'false'])
})

test.each(['CONNECT', 'TRACE', 'PURGE'])('%s reaches the handler', async (method) => {
  const server = serve(hello)
  expect((await raw(server, rawRequest({ method, path: '/' }))).status).toBe(200)
  expect(seen[0]?.method).toBe(method)
})

/** A handler whose answer waits, what it saw of its client's end, and the way to let it answer. */
function waiting() {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const handler: Handler = async ({ signal }) => {
    signal.addEventListener('abort', () => aborted.resolve())
    arrived.resolve()
    await released.promise
    return new Response('late')
  }
  return { handler, arrived: arrived.promise, aborted: aborted.promise, release: released.resolve }
}

test('S04: a client that closes its half counts as gone, and receives no answer', async () => {
  const { handler, arrived, aborted, release } = waiting()
  const client = await opened(serve(handler))
  await client.send(get())
  await arrived
  client.halfClose()
  await aborted
  release()
  await client.ended
  expect(client.read().toString()).toBe('')
})

test.each(['close', 'reset'] as const)(
  'S01: a client that ends by %s aborts its waiting request',
  async (how) => {
    const { handler, arrived, aborted, release } = waiting()
    const client = await opened(serve(handler))
    await client.send(get())
    await arrived
    client[how]()
    await recordTimeFigure(`S01: abort after ${how}`, { atMost: 100 }, () => aborted)
    release()
  },
)

test('S02: a client that leaves a silent stream aborts its request and cancels the stream', async () => {
  const cancelled = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const server = serve(({ signal }) => {
    signal.addEventListener('abort', () => aborted.resolve())
    const source: Source = {
      pull: (controller) =>
        new Promise<void>((resolve) => {
          // The first piece at once, the second never.
          if (isFirst) controller.enqueue('data: 1\n\n')
          if (isFirst) resolve()
          isFirst = false
        }),
      cancel: () => cancelled.resolve(),
    }
    let isFirst = true
    return new Response(new ReadableStream(source, { highWaterMark: 0 }))
  })
  const client = await opened(server)
  await client.send(get())
  await client.until((received) => received.includes('data: 1'))
  client.close()
  await Promise.all([aborted.promise, cancelled.promise])
})

test('S12: an answer is not pulled while its client does not read', async () => {
  const piece = 'x'.repeat(64 * 1024)
  const maxBytes = 32 * 2 ** 20
  let pulls = 0
  let otherPulls = 0
  const server = serve(({ url }) => {
    const isOther = url.endsWith('/other')
    const source: Source = {
      pull(controller) {
        if (isOther) otherPulls += 1
        else pulls += 1
        controller.enqueue(piece)
        if (isOther && otherPulls * piece.length > 2 * maxBytes) controller.close()
      },
    }
    return new Response(new ReadableStream(source, { highWaterMark: 0 }))
  })
  const client = await opened(server)
  client.stopReading()
  await client.send(get())
  await eventually(() => pulls > 0)
  // Another one is pulled and read meanwhile.
  const other = await fetch(`${server.url.href}other`)
  expect((await other.arrayBuffer()).byteLength).toBeGreaterThan(2 * maxBytes)
  // The buffers of both kernels hold some megabytes.
  const before = pulls
  expect(before * piece.length).toBeLessThan(maxBytes)
  client.resumeReading()
  await client.until((received) => received.length > before * piece.length)
  expect(pulls).toBeGreaterThan(before)
})

test('I18: an answer whose stream throws is cut, not ended', async () => {
  const { promise: mayFail, resolve: fail } = Promise.withResolvers<void>()
  const server = serve(() => {
    let pieces = 0
    const source: Source = {
      async pull(controller) {
        pieces += 1
        if (pieces > 1) await mayFail
        if (pieces > 1) controller.error(new Error('lost'))
        else controller.enqueue('data: 1\n\n')
      },
    }
    return new Response(new ReadableStream(source, { highWaterMark: 0 }))
  })
  const client = await opened(server)
  await client.send(get())
  await client.until((received) => received.includes('data: 1'))
  fail()
  await client.ended
  expect(parseResponse(client.read())).toMatchObject({ status: 200, isWhole: false })
})

test('L01: a stopping server closes idle sockets, refuses new ones and ends running streams', async () => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const server = serve(({ url }) => {
    if (!url.endsWith('/stream')) return new Response('hello')
    let pieces = 0
    const source: Source = {
      async pull(controller) {
        pieces += 1
        if (pieces > 1) await mayEnd
        controller.enqueue(`data: ${pieces}\n\n`)
        if (pieces > 1) controller.close()
      },
    }
    return new Response(new ReadableStream(source, { highWaterMark: 0 }))
  })
  const idle = await opened(server)
  await idle.send(get())
  await idle.response()
  const running = await opened(server)
  await running.send(get('/stream'))
  await running.until((received) => received.includes('data: 1'))

  const stopped = server.stop()
  expect(await idle.ended).toBe('fin')
  await expect(openRaw(server.url.href)).rejects.toThrow()
  end()
  const { isWhole, body } = await running.response()
  expect([isWhole, body.toString()]).toEqual([true, 'data: 1\n\ndata: 2\n\n'])
  await stopped
})
