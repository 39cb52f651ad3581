import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { bounds } from './frames'
import { createTestTunnel } from '../../testing/tunnel/stage'
import { ProtocolError } from './read-frame'
import { ConnectionFailed } from '../upstream/http/connection-failed'

const chunk = (data: string) => ({ type: 'chunk', id: '1', data }) as const
const end = { type: 'response', id: '1', status: 200 } as const
const half = bounds.windowBytes / 2

/** What `asked` rejects with. */
const failureOf = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

describe('an answer', () => {
  test('may come in pieces of any size, and is read as it came', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), { maxLength: 40 }),
      fc.array(fc.boolean(), { maxLength: 40 }),
      async (texts, turns) => {
        const { link, ask } = createTestTunnel()
        const asked = ask()
        let read = ''
        link.take(chunk(''))
        const answer = await asked
        for (const [at, text] of texts.entries()) {
          // Sometimes somebody waits already, sometimes nobody does.
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

  test('of one frame has its status, and of headers what is known', async () => {
    const { link, ask } = createTestTunnel()
    const asked = ask(false)
    const headers = { 'Retry-After': '3', 'set-cookie': 'a=b' }
    link.take({ ...end, status: 429, headers, body: '{"error":1}' })
    const answer = await asked
    const told = ['content-type', 'retry-after', 'set-cookie'].map((name) =>
      answer.headers.get(name),
    )
    expect([answer.status, ...told]).toEqual([429, 'application/json', '3', null])
    expect(await answer.text()).toBe('{"error":1}')
  })

  test('that nobody waits for any more is cancelled, once', async () => {
    const { link, ask, seen, stop } = createTestTunnel()
    const asked = ask()
    link.take(chunk('x'))
    const answer = await asked
    answer.cancel()
    answer.cancel()
    stop.abort(new Error('too late'))
    expect(seen('cancel')).toEqual([{ type: 'cancel', id: '1' }])
    expect(link.size).toBe(0)
  })

  test('ends with the reason of its stop', async () => {
    const { ask, seen, stop } = createTestTunnel()
    const asked = failureOf(ask())
    const reason = new Error('over')
    stop.abort(reason)
    expect(await asked).toBe(reason)
    expect(seen('cancel')).toHaveLength(1)
    expect(await failureOf(ask())).toBe(reason)
  })

  test('is lost with its socket, behind what had come', async () => {
    const { link, ask } = createTestTunnel()
    const asked = ask()
    link.take(chunk('Hello'))
    const answer = await asked
    link.lose()
    expect(Buffer.from((await answer.read()) ?? []).toString()).toBe('Hello')
    const failure = await failureOf(answer.read())
    expect(failure).toMatchObject({ connected: true })
    expect(await failureOf(ask())).toMatchObject({ connected: false })
  })

  test.each([
    [false, false],
    [true, true],
  ])('an error with sent %p is a connection that was made: %p', async (sent, connected) => {
    const { link, ask } = createTestTunnel()
    const asked = failureOf(ask())
    link.take({ type: 'error', id: '1', code: 'not_served', message: 'No.', sent })
    const failure = await asked
    expect(failure).toBeInstanceOf(ConnectionFailed)
    expect(failure).toMatchObject({ connected })
  })
})

describe('its window', () => {
  test('is all that may come before somebody reads', async () => {
    const { link, ask, seen } = createTestTunnel()
    const asked = ask()
    link.take(chunk('x'.repeat(bounds.windowBytes)))
    expect(() => link.take(chunk('x'))).toThrow(ProtocolError)
    expect(seen('window')).toEqual([])
    const answer = await asked
    await answer.read()
    expect(seen('window')).toEqual([{ type: 'window', id: '1', bytes: bounds.windowBytes }])
  })

  test('counts bytes of UTF-8', () => {
    const { link, ask } = createTestTunnel()
    ask().catch(() => undefined)
    expect(() => link.take(chunk('é'.repeat(half + 1)))).toThrow(ProtocolError)
  })

  test('is granted anew by halves, so that it never stands still and is never more', async () => {
    const { link, ask, seen } = createTestTunnel()
    const asked = ask()
    link.take(chunk('x'))
    const answer = await asked
    await answer.read()
    let open = bounds.windowBytes - 1
    for (let rounds = 0; rounds < 50; rounds++) {
      const size = Math.min(open, 50_000)
      expect(size).toBeGreaterThan(0)
      const grants = seen('window').length
      link.take(chunk('x'.repeat(size)))
      await answer.read()
      open -= size
      for (const grant of seen('window').slice(grants)) {
        if (grant.type === 'window') open += grant.bytes
      }
      expect(open).toBeWithin(half - 50_000, bounds.windowBytes + 1)
    }
  })
})

test('a link takes no more requests than it may have at once', async () => {
  const { link, ask } = createTestTunnel()
  const asked = Array.from({ length: bounds.requests }, () => failureOf(ask()))
  expect(link.isOpen).toBe(false)
  expect(await failureOf(ask())).toMatchObject({ connected: false })
  link.lose()
  const failures = await Promise.all(asked)
  expect(failures.every((thrown) => thrown instanceof ConnectionFailed)).toBe(true)
  expect(link.size).toBe(0)
})
