import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { bounds } from './frames'
import { createTestTunnel } from '../../testing/tunnel/test-tunnel'
import { ProtocolError } from './read-frame'
import { ConnectionFailed } from '../upstream/http/connection-failed'

const chunk = (data: string) => ({ type: 'chunk', id: '1', data }) as const
const end = { type: 'response', id: '1', status: 200 } as const
const half = bounds.windowBytes / 2

/** What `asked` rejects with. */
const failureOf = (pending: Promise<unknown>) =>
  pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

describe('an answer', () => {
  test('may come in pieces of any size, and is read as it came', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), { maxLength: 40 }),
      fc.array(fc.boolean(), { maxLength: 40 }),
      async (texts, turns) => {
        const { link, request } = createTestTunnel()
        const pending = request()
        let read = ''
        link.take(chunk(''))
        const answer = await pending
        for (const [at, text] of texts.entries()) {
          // Sometimes a reader waits already, sometimes none does.
          const early = turns[at] === true ? answer.read() : undefined
          link.take(chunk(text))
          if (early) read += Buffer.from((await early) ?? []).toString()
        }
        link.take(end)
        read += await answer.text()
        expect(Buffer.from(read).equals(Buffer.from(texts.join('')))).toBe(true)
        expect(link.size).toBe(0)
      },
    )
    await fc.assert(property, { numRuns: 200 })
  })

  test('of one frame has its status, and its known headers', async () => {
    const { link, request } = createTestTunnel()
    const pending = request(false)
    const headers = { 'Retry-After': '3', 'set-cookie': 'a=b' }
    link.take({ ...end, status: 429, headers, body: '{"error":1}' })
    const answer = await pending
    const passedHeaders = ['content-type', 'retry-after', 'set-cookie'].map((name) =>
      answer.headers.get(name),
    )
    expect([answer.status, ...passedHeaders]).toEqual([429, 'application/json', '3', null])
    expect(await answer.text()).toBe('{"error":1}')
  })

  test('without a reader is cancelled, once', async () => {
    const { link, request, sentOf, stop } = createTestTunnel()
    const pending = request()
    link.take(chunk('x'))
    const answer = await pending
    answer.cancel()
    answer.cancel()
    stop.abort(new Error('too late'))
    expect(sentOf('cancel')).toEqual([{ type: 'cancel', id: '1' }])
    expect(link.size).toBe(0)
  })

  test('ends with the reason of its stop', async () => {
    const { request, sentOf, stop } = createTestTunnel()
    const pending = failureOf(request())
    const reason = new Error('over')
    stop.abort(reason)
    expect(await pending).toBe(reason)
    expect(sentOf('cancel')).toHaveLength(1)
    expect(await failureOf(request())).toBe(reason)
  })

  test('is lost with its socket, after the received part', async () => {
    const { link, request } = createTestTunnel()
    const pending = request()
    link.take(chunk('Hello'))
    const answer = await pending
    link.markLost()
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe('Hello')
    const failure = await failureOf(answer.read())
    expect(failure).toMatchObject({ connected: true })
    expect(await failureOf(request())).toMatchObject({ connected: false })
  })

  test.each([
    [false, false],
    [true, true],
  ])('an error with sent %p is a connection that was made: %p', async (sent, connected) => {
    const { link, request } = createTestTunnel()
    const pending = failureOf(request())
    link.take({ type: 'error', id: '1', code: 'not_served', message: 'No.', sent })
    const failure = await pending
    expect(failure).toBeInstanceOf(ConnectionFailed)
    expect(failure).toMatchObject({ connected })
  })
})

describe('its window', () => {
  test('is the maximum buffered before the first read', async () => {
    const { link, request, sentOf } = createTestTunnel()
    const pending = request()
    link.take(chunk('x'.repeat(bounds.windowBytes)))
    expect(() => link.take(chunk('x'))).toThrow(ProtocolError)
    expect(sentOf('window')).toEqual([])
    const answer = await pending
    await answer.read()
    expect(sentOf('window')).toEqual([{ type: 'window', id: '1', bytes: bounds.windowBytes }])
  })

  test('counts bytes of UTF-8', () => {
    const { link, request } = createTestTunnel()
    request().catch(() => undefined)
    expect(() => link.take(chunk('é'.repeat(half + 1)))).toThrow(ProtocolError)
  })

  test('is granted anew by halves, so that it never stands still and is never more', async () => {
    const { link, request, sentOf } = createTestTunnel()
    const pending = request()
    link.take(chunk('x'))
    const answer = await pending
    await answer.read()
    let open = bounds.windowBytes - 1
    for (let rounds = 0; rounds < 50; rounds++) {
      const size = Math.min(open, 50_000)
      expect(size).toBeGreaterThan(0)
      const grants = sentOf('window').length
      link.take(chunk('x'.repeat(size)))
      await answer.read()
      open -= size
      for (const grant of sentOf('window').slice(grants)) {
        if (grant.type === 'window') open += grant.bytes
      }
      expect(open).toBeWithin(half - 50_000, bounds.windowBytes + 1)
    }
  })
})

test('a link accepts at most its concurrent requests', async () => {
  const { link, request } = createTestTunnel()
  const pending = Array.from({ length: bounds.requests }, () => failureOf(request()))
  expect(link.isOpen).toBe(false)
  expect(await failureOf(request())).toMatchObject({ connected: false })
  link.markLost()
  const failures = await Promise.all(pending)
  expect(failures.every((thrown) => thrown instanceof ConnectionFailed)).toBe(true)
  expect(link.size).toBe(0)
})
