import { afterAll, describe, expect, test } from 'bun:test'
import { Hono } from 'hono'
import { callOf, ModelCall } from './model-call'
import { BodyBudget } from '../http/body-budget'
import { EventLoopShares } from '../limits/event-loop-shares'
import type { Env } from '../http/env'
import { settled, TestClock } from '../../testing/clock'

test.each([
  '/v1/chat/completions',
  '/v1/chat/completions/',
  '/v1/%63hat/completions',
  '/v1/chat/completions?key=secret',
  '/v1/chat/completions#secret',
])(
  'a request has the endpoint that answers it, for every spelling of its path: %s',
  async (path) => {
    const app = new Hono<Env>({ strict: false })
    app.post('/v1/chat/completions', (c) => c.text(callOf(c).endpoint))
    using server = Bun.serve({
      port: 0,
      fetch: (request, server) => app.fetch(request, { server }),
    })
    expect(await sent(server.port ?? 0, path)).toEndWith('\r\n\r\n/v1/chat/completions')
  },
)

test('the wait for a provider is known while it lasts, after another one failed', async () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response() })
  const path = '/v1/chat/completions'
  const request = new Request(`http://localhost${path}`)
  using bodies = new BodyBudget({ bytes: 1 << 20 })
  const clock = new TestClock()
  const call = new ModelCall({ request, server, bodies, requestId: 'req_1', path, clock })
  await clock.advance(1)
  expect(call.waitedMs).toBe(0)
  call.onWaiting(true)
  await clock.advance(2)
  call.onWaiting(false)
  expect(call.waitedMs).toBe(2)
  // Its headers go out early, and another provider has said nothing yet.
  await clock.advance(3)
  call.onWaiting(true)
  await clock.advance(20)
  expect(call.waitedMs).toBe(22)
  call.onWaiting(false)
  await clock.advance(2)
  expect(call.waitedMs).toBe(22)
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
    await settled()
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
