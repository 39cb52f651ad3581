import { afterEach, expect, test } from 'bun:test'
import { openRaw, type RawClient } from '../../harness/raw-client'

/**
 * What the runtime's HTTP server does with unread bodies, and Tollgate relies on. A test that
 * fails after an upgrade of Bun names the assumption that is gone.
 */

const open: Disposable[] = []

afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

function serve(handler: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    maxRequestBodySize: 2 ** 40,
    fetch: handler,
  })
  open.push({ [Symbol.dispose]: () => void server.stop(true) })
  return server.url.href
}

async function opened(url: string): Promise<RawClient> {
  const client = await openRaw(url)
  open.push(client)
  return client
}

const mebibyte = Buffer.alloc(1 << 20, 'a')
const longPost = 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 100000000\r\n\r\n'

/** Sends 40 MB. Resolves once they are taken, and rejects where the connection ends before; `onTaken` hears of each. */
async function sendLong(client: RawClient, onTaken: () => void = () => undefined): Promise<void> {
  const ended = client.ended.then((how) => {
    throw new Error(`the connection ended: ${how}`)
  })
  for (let sent = 0; sent < 40; sent++) {
    await Promise.race([client.send(mebibyte), ended])
    onTaken()
  }
}

test('H05: reads a body from its connection only once the handler reads it', async () => {
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>()
  const server = serve(async (request) => {
    if (!request.url.endsWith('/other')) await mayRead
    return new Response(String((await request.arrayBuffer()).byteLength))
  })
  const client = await opened(server)
  await client.send(longPost)
  let taken = 0
  const sending = sendLong(client, () => void (taken += 1))
  // Another one is read meanwhile, which is as long.
  const other = await fetch(`${server}other`, { method: 'POST', body: Buffer.alloc(40 << 20) })
  expect(await other.text()).toBe(String(40 << 20))
  // What the kernels hold.
  expect(taken).toBeLessThan(20)
  read()
  await sending
})

test('an unread body is taken and dropped once the request is answered, without end', async () => {
  const server = serve(() => new Response('no', { status: 401 }))
  const client = await opened(server)
  await client.send(longPost)
  expect((await client.response()).status).toBe(401)
  await sendLong(client)
})

test('a streamed answer may read its request, and closes the connection with its end', async () => {
  const server = serve((request) => {
    const reader = request.body?.getReader()
    const source: Bun.UnderlyingSource<string> = {
      async pull(controller) {
        if (pulls++ === 0) return controller.enqueue('no')
        for (let bytes = 0; bytes < 20 * mebibyte.length;) {
          const { value } = (await reader?.read()) ?? {}
          bytes += value?.byteLength ?? Infinity
        }
        controller.close()
      },
    }
    let pulls = 0
    const headers = { connection: 'close' }
    return new Response(new ReadableStream(source, { highWaterMark: 0 }), { headers })
  })
  const client = await opened(server)
  await client.send(longPost)
  await client.until((received) => received.includes('no'))
  // No more than it reads: what is unread at the end makes that a reset, which may take bytes along.
  for (let sent = 0; sent < 20; sent++) await client.send(mebibyte)
  expect(await client.ended).toBe('fin')
  const { isWhole, body } = await client.response()
  expect([isWhole, body.toString()]).toEqual([true, 'no'])
})
