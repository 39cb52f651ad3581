import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import { callOf } from './model-call'
import type { Env } from '../http/env'

test.each([
  '/v1/chat/completions',
  '/v1/chat/completions/',
  '/v1/%63hat/completions',
  '/v1/chat/completions?key=secret',
  '/v1/chat/completions#secret',
])('however its path is written, a request has the endpoint that answers it: %s', async (path) => {
  const app = new Hono<Env>({ strict: false })
  app.post('/v1/chat/completions', (c) => c.text(callOf(c).endpoint))
  using server = Bun.serve({
    port: 0,
    fetch: (request, here) => app.fetch(request, { server: here }),
  })
  expect(await sent(server.port ?? 0, path)).toEndWith('\r\n\r\n/v1/chat/completions')
})

/** As it stands, which a client library would not send. */
async function sent(port: number, path: string): Promise<string> {
  const answer = Promise.withResolvers<string>()
  let text = ''
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_socket, bytes) => void (text += bytes.toString()),
      close: () => answer.resolve(text),
    },
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
  return answer.promise
}
