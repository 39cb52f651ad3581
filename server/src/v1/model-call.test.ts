import { afterAll, describe, expect, test } from 'bun:test'
import { Hono } from 'hono'
import { callOf, ModelCall } from './model-call'
import { BodyBudget } from '../http/body-budget'
import { EventLoopShares } from '../limits/event-loop-shares'
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
    fetch: (request, server) => app.fetch(request, { server }),
  })
  expect(await sent(server.port ?? 0, path)).toEndWith('\r\n\r\n/v1/chat/completions')
})

test('what it waited for a provider is known while it still waits, after another that failed', () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response() })
  const path = '/v1/chat/completions'
  const request = new Request(`http://localhost${path}`)
  using bodies = new BodyBudget({ bytes: 1 << 20 })
  const call = new ModelCall({ request, server, bodies, requestId: 'req_1', path })
  expect(call.waitedMs).toBe(0)
  call.onWaiting(true)
  Bun.sleepSync(2)
  call.onWaiting(false)
  const first = call.waitedMs
  expect(first).toBeGreaterThanOrEqual(2)
  // Its headers go out early, and another provider has said nothing yet.
  call.onWaiting(true)
  Bun.sleepSync(20)
  expect(call.waitedMs).toBeGreaterThanOrEqual(first + 20)
  call.onWaiting(false)
  const both = call.waitedMs
  Bun.sleepSync(2)
  expect(call.waitedMs).toBe(both)
})

describe('previous responses and conversations of a request', () => {
  const path = '/v1/responses'
  const mebibyte = 1 << 20
  const server = Bun.serve({ port: 0, fetch: () => new Response() })
  afterAll(() => server.stop(true))
  const callIn = (bodies: BodyBudget, signal?: AbortSignal) => {
    const request = new Request(`http://localhost${path}`, { ...(signal && { signal }) })
    return new ModelCall({ request, server, bodies, requestId: 'req_1', path })
  }

  test('waits for room as a large body does, and gives it back', async () => {
    using bodies = new BodyBudget({ bytes: 30 * mebibyte })
    const [first, second] = [callIn(bodies), callIn(bodies)]
    const order: string[] = []
    await first.readMore(20 * mebibyte, async () => order.push('first'))
    expect(bodies.bytes).toBe(20 * mebibyte)
    const waiting = second.readMore(20 * mebibyte, async () => order.push('second'))
    await Bun.sleep(0)
    expect(order).toEqual(['first'])
    first.body?.release()
    await waiting
    expect(order).toEqual(['first', 'second'])
    second.body?.release()
    expect(bodies.bytes).toBe(0)
  })

  test('is not read for a client that disconnected while it waited', async () => {
    using bodies = new BodyBudget({ bytes: 30 * mebibyte })
    const gone = new AbortController()
    const [first, second] = [callIn(bodies), callIn(bodies, gone.signal)]
    await first.readMore(20 * mebibyte, async () => undefined)
    const waiting = second.readMore(20 * mebibyte, () => Promise.reject(new Error('it was read')))
    gone.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })

  test('finding S21: counts its parsing in the share of its account, also where it is short', async () => {
    // The other account stays active, however long this takes.
    using shares = new EventLoopShares({ now: () => 1000 })
    using bodies = new BodyBudget({ bytes: 30 * mebibyte, loop: shares })
    shares.touch('another account')
    const share = shares.shareOf('')
    for (const bytes of [1000, 2 * mebibyte]) {
      const before = share.freeAtMs
      await callIn(bodies).readMore(bytes, (pause) => pause(1))
      expect(share.freeAtMs).toBeGreaterThan(before)
    }
  })

  test('never waits where it is short', async () => {
    using bodies = new BodyBudget({ bytes: 30 * mebibyte })
    await callIn(bodies).readMore(30 * mebibyte, async () => undefined)
    expect(await callIn(bodies).readMore(mebibyte, async () => 'read')).toBe('read')
  })
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
