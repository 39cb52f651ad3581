import { afterEach, expect, spyOn, test } from 'bun:test'
import { connect } from 'node:net'
import { readJson } from './body'
import { BodyShare } from './body-share'
import { EventLoopShares } from '../limits/event-loop-shares'
import { renderError, toRendered } from './render'
import { recordFigure } from '../../testing/figures'

const open: Disposable[] = []
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

/** A server that reads bodies, and gives them so long as a whole. */
function reader(maxMs: number) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 40,
    fetch: async (request, own) => {
      try {
        const { bytes } = await readJson(request, { limitBytes: 32 << 20, server: own, maxMs })
        return new Response(String(bytes))
      } catch (thrown) {
        return renderError(toRendered(thrown), 'req_1')
      }
    },
  })
  open.push({ [Symbol.dispose]: () => void server.stop(true) })
  return server
}

/** Sends a piece every few milliseconds until the connection is over. Resolves with what came back. */
async function pour(port: number | undefined, framing: string, piece: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: port ?? 0 })
  const state = { text: '', isOver: false }
  socket.on('data', (bytes) => (state.text += bytes.toString()))
  for (const event of ['end', 'error', 'close']) socket.on(event, () => (state.isOver = true))
  socket.write(`POST / HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`)
  while (!state.isOver) {
    socket.write(piece)
    await Bun.sleep(5)
  }
  socket.destroy()
  return state.text
}

test.each([
  ['whose length is told', 'content-length: 30000000', 'a'.repeat(1000)],
  ['in chunks', 'transfer-encoding: chunked', `3e8\r\n${'a'.repeat(1000)}\r\n`],
])('H02: a body %s that comes steadily and never ends is refused and closed', async (...row) => {
  const [, framing, piece] = row
  const text = await pour(reader(300).port, framing, piece)
  expect(text).toStartWith('HTTP/1.1 400')
  expect(text.toLowerCase()).toContain('connection: close')
  expect(text).toContain('was not complete within 0.3 s')
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

test('H02: one that ends in time is read, large or not', async () => {
  const server = reader(20_000)
  for (const characters of [10, 3 << 20]) {
    const body = JSON.stringify({ text: 'a'.repeat(characters) })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(server.url, { method: 'POST', headers, body })
    expect(await answer.text()).toBe(String(body.length))
  }
})
