import { afterEach, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { eventually } from '../../../server/testing/eventually'

/** What the runtime's `fetch` does, as contract 13.4 has it: for libraries; providers are asked without it. */

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

interface Peer {
  url: string
  /** The connections that are open. */
  sockets: Set<Socket>
  /** The request lines that came, in their order. */
  requests: string[]
}

/** Answers each request with exactly the bytes that `answer` makes of it and its number. */
async function peer(answer: (request: string, count: number) => string | Buffer): Promise<Peer> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      const [line = ''] = bytes.toString().split('\r\n')
      requests.push(line)
      const reply = answer(line, requests.length)
      if (reply === '') socket.destroy()
      else socket.write(reply)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return { url: `http://127.0.0.1:${port}`, sockets, requests }
}

const plain = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

test('U15: redirects are followed unless that is switched off', async () => {
  const { url, requests } = await peer((line) =>
    line.includes('/old')
      ? 'HTTP/1.1 307 Temporary\r\nlocation: /new\r\ncontent-length: 0\r\n\r\n'
      : plain,
  )
  const manual = await fetch(`${url}/old`, { redirect: 'manual' })
  expect([manual.status, requests.length]).toEqual([307, 1])
  const followed = await fetch(`${url}/old`)
  expect([followed.status, await followed.text(), requests.length]).toEqual([200, 'ok', 3])
})

test('U15: a decoded body keeps the headers of the encoded one', async () => {
  const text = 'a'.repeat(1000)
  const body = gzipSync(text)
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`
  const { url } = await peer(() => Buffer.concat([Buffer.from(head), body]))
  const response = await fetch(url)
  expect(await response.text()).toBe(text)
  expect(response.headers.get('content-encoding')).toBe('gzip')
  expect(response.headers.get('content-length')).toBe(String(body.length))
})

test('P03: an unread body keeps its socket until it is cancelled', async () => {
  const { url, sockets } = await peer(
    () => 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n',
  )
  const response = await fetch(url)
  // Another request has to take another socket.
  const other = await fetch(url)
  expect(sockets.size).toBe(2)
  await response.body?.cancel()
  await eventually(() => sockets.size === 1)
  await other.body?.cancel()
  await eventually(() => sockets.size === 0)
})

test('U19: a POST whose kept-alive connection dies is not sent again', async () => {
  const { url, requests } = await peer((line, count) =>
    count === 1 || line.includes('/after') ? plain : '',
  )
  const post = () => fetch(url, { method: 'POST', body: '{}' })
  expect(await (await post()).text()).toBe('ok')
  await expect(post()).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(await (await fetch(`${url}/after`)).text()).toBe('ok')
  const line = 'POST / HTTP/1.1'
  expect(requests).toEqual([line, line, 'GET /after HTTP/1.1'])
})

test('X11: NO_PROXY overrules a proxy that was named outright', async () => {
  const proxy = await peer(() => plain)
  const target = await peer(() => plain)
  const script = `await fetch('${target.url}', { proxy: '${proxy.url}' })`
  const reached: Record<string, string> = {}
  for (const NO_PROXY of ['', '127.0.0.1']) {
    const before = proxy.requests.length
    const child = Bun.spawn([process.execPath, '-e', script], {
      env: { PATH: process.env['PATH'], NO_PROXY },
    })
    expect(await child.exited).toBe(0)
    reached[NO_PROXY] = proxy.requests.length > before ? 'proxy' : 'target'
  }
  expect(reached).toEqual({ '': 'proxy', '127.0.0.1': 'target' })
})
