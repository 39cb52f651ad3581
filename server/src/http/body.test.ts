import { afterEach, expect, spyOn, test } from 'bun:test'
import { connect } from 'node:net'
import { readJson } from './body'
import { BodyShare } from './body-share'
import { EventLoopShares } from '../limits/event-loop-shares'
import { renderError, toRendered } from './render'
import { recordFigure } from '../../testing/figures'
import type { Clock } from '../platform/clock'
import { settled, TestClock } from '../../testing/clock'
import { eventually } from '../../testing/eventually'

const open: Disposable[] = []
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

/** A server that reads bodies, and gives them so long as a whole. */
function reader(maxMs: number, clock?: Clock) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 40,
    fetch: async (request, own) => {
      try {
        const { bytes } = await readJson(request, {
          limitBytes: 32 << 20,
          server: own,
          maxMs,
          ...(clock && { clock }),
        })
        return new Response(String(bytes))
      } catch (thrown) {
        return renderError(toRendered(thrown), 'req_1')
      }
    },
  })
  open.push({ [Symbol.dispose]: () => void server.stop(true) })
  return server
}

/** Sends a piece in each turn of the loop until the connection is over. */
function pour(port: number | undefined, framing: string, piece: string) {
  const socket = connect({ host: '127.0.0.1', port: port ?? 0 })
  const state = { text: '', pieces: 0, isOver: false }
  socket.on('data', (bytes) => (state.text += bytes.toString()))
  for (const event of ['end', 'error', 'close']) socket.on(event, () => (state.isOver = true))
  socket.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`)
  const ending = async () => {
    for (; !state.isOver; state.pieces += 1) {
      if (socket.writableLength < 100_000) socket.write(piece)
      await settled()
    }
    socket.destroy()
  }
  return { state, ended: ending() }
}

test.each([
  ['with a declared length', 'content-length: 30000000', 'a'],
  ['in chunks', 'transfer-encoding: chunked', '1\r\na\r\n'],
])('H02: a body %s that comes steadily and never ends is rejected and closed', async (...row) => {
  const [, framing, piece] = row
  const clock = new TestClock()
  const { state, ended } = pour(reader(300, clock).port, framing, piece)
  await eventually(() => clock.pending > 0)
  await clock.advance(299)
  const before = state.pieces
  await eventually(() => state.pieces > before + 10)
  expect([state.isOver, state.text]).toEqual([false, ''])
  await clock.advance(1)
  await ended
  expect(state.text).toStartWith('HTTP/1.1 400')
  expect(state.text.toLowerCase()).toContain('connection: close')
  expect(state.text).toContain('was not complete within 0.3 s')
})

test('S3: a large body counts in its account’s share of the event loop, accepted or rejected', async () => {
  using loop = new EventLoopShares()
  const note = spyOn(loop.shareOf('acc_1'), 'note')
  const budget = { take: () => undefined, release: () => undefined, sendDeadlineMs: () => Infinity }
  const memory = { share: () => new BodyShare('acc_1', budget, loop) }
  const read = (body: string) => {
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const request = new Request('http://h/', { method: 'POST', headers, body })
    return readJson(request, { limitBytes: 32 << 20, server: { timeout: () => undefined }, memory })
  }
  const text = 'a'.repeat(3 << 20)
  const accepted = JSON.stringify({ text })
  await read(accepted)
  await expect(read(accepted.replace('{', '['))).rejects.toThrow()
  const leastMs = accepted.length * 6e-6
  expect(note).toHaveBeenCalledTimes(2)
  for (const [ms, kind] of note.mock.calls) {
    expect(ms).toBeGreaterThanOrEqual(leastMs)
    // Three times as much on a machine that copies slowly.
    recordFigure('event loop noted for a body of 3 MB', ms, { unit: 'ms', atMost: 3 * leastMs })
    expect(kind).toBe('useful')
  }
})

test('S3: the use of a large body counts before it is parsed, so that others of its account wait for it', async () => {
  using loop = new EventLoopShares()
  const note = spyOn(loop.shareOf('acc_1'), 'note')
  const spend = spyOn(loop.shareOf('acc_1'), 'spend')
  const budget = { take: () => undefined, release: () => undefined, sendDeadlineMs: () => Infinity }
  const memory = { share: () => new BodyShare('acc_1', budget, loop) }
  const body = JSON.stringify({ list: Array.from({ length: 100_000 }, () => 0) })
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const request = new Request('http://h/', { method: 'POST', headers, body })
  await readJson(request, { limitBytes: 32 << 20, server: { timeout: () => undefined }, memory })
  const [noted = Infinity] = note.mock.invocationCallOrder
  expect(noted).toBeLessThan(spend.mock.invocationCallOrder.at(-1) ?? 0)
  // Its own slices do not wait for that.
  expect(spend.mock.calls.at(-1)?.[2]).toBe(note.mock.calls[0]?.[0])
})

test('H02: a body that ends in time is read, large or not', async () => {
  const server = reader(20_000)
  for (const characters of [10, 3 << 20]) {
    const body = JSON.stringify({ text: 'a'.repeat(characters) })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(server.url, { method: 'POST', headers, body })
    expect(await answer.text()).toBe(String(body.length))
  }
})
