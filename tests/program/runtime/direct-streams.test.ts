import { afterEach, expect, test } from 'bun:test'
import { openRaw, parseResponse, rawRequest, type RawClient } from '../../harness/raw-client'

/** What the runtime's direct streams do, by which answers are streamed; docs/contribute/outgoing-requests.md. */

const open: Disposable[] = []
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

/** A client that has asked for what this source streams; `unread` from its first byte on. */
async function asking(
  source: Bun.DirectUnderlyingSource<string>,
  reading: 'read' | 'unread' = 'read',
): Promise<RawClient> {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch: () => new Response(new ReadableStream(source)),
  })
  open.push({ [Symbol.dispose]: () => void server.stop(true) })
  const client = await openRaw(server.url.href)
  open.push(client)
  if (reading === 'unread') client.stopReading()
  await client.send(rawRequest({ method: 'GET', path: '/' }))
  return client
}

test('flushed bytes arrive at once, and all of them have arrived after the end', async () => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const client = await asking({
    type: 'direct',
    async pull(controller) {
      await controller.write('data: ü\n\n')
      await controller.flush()
      await mayEnd
      await controller.write('data: 2\n\n')
      await controller.end()
    },
  })
  await client.until((received) => received.toString().includes('data: ü'))
  expect(client.read().toString()).not.toContain('data: 2')
  end()
  const { body, isWhole } = await client.response()
  expect([body.toString(), isWhole]).toEqual(['data: ü\n\ndata: 2\n\n', true])
})

/** A source that writes until a write is a promise, and ends once that has resolved. */
function createWriter() {
  const piece = 'x'.repeat(64 * 1024)
  const held = Promise.withResolvers<number>()
  const drained = Promise.withResolvers<void>()
  const source: Bun.DirectUnderlyingSource<string> = {
    type: 'direct',
    async pull(controller) {
      for (let bytes = piece.length; ; bytes += piece.length) {
        const written = controller.write(piece)
        await controller.flush()
        if (typeof written === 'number') continue
        held.resolve(bytes)
        await written
        drained.resolve()
        await controller.end()
        return
      }
    },
  }
  return { source, held: held.promise, drained: drained.promise }
}

test('S12: a write is a promise once the client does not read, and resolves when it reads on', async () => {
  const [writer, otherWriter] = [createWriter(), createWriter()]
  const client = await asking(writer.source, 'unread')
  const other = await asking(otherWriter.source, 'unread')
  // The buffers of both kernels hold some megabytes.
  expect(await writer.held).toBeWithin(1, 32 * 2 ** 20)
  let isDrained = false
  void writer.drained.then(() => (isDrained = true))
  await otherWriter.held
  other.resumeReading()
  await otherWriter.drained
  await other.response()
  expect(isDrained).toBe(false)
  client.resumeReading()
  await writer.drained
})

test('S12: closed with an error it cuts off a client that does not read', async () => {
  const closed = Promise.withResolvers<void>()
  const source: Bun.DirectUnderlyingSource<string> = {
    type: 'direct',
    async pull(controller) {
      for (;;) {
        const written = controller.write('x'.repeat(64 * 1024))
        await controller.flush()
        if (typeof written !== 'number') break
      }
      controller.close(new Error('it does not read'))
      closed.resolve()
    },
  }
  const client = await asking(source, 'unread')
  await closed.promise
  client.resumeReading()
  expect(await client.ended).toBe('reset')
})

test('S02: a client that leaves cancels it, while it writes nothing', async () => {
  const cancelled = Promise.withResolvers<void>()
  const client = await asking({
    type: 'direct',
    async pull(controller) {
      await controller.write('data: 1\n\n')
      await controller.flush()
      await cancelled.promise
    },
    cancel: () => cancelled.resolve(),
  })
  await client.until((received) => received.includes('data: 1'))
  client.close()
  await cancelled.promise
})

test('I18: an answer whose source throws is cut, not ended', async () => {
  const { promise: mayFail, resolve: fail } = Promise.withResolvers<void>()
  const client = await asking({
    type: 'direct',
    async pull(controller) {
      await controller.write('data: 1\n\n')
      await controller.flush()
      await mayFail
      throw new Error('lost')
    },
  })
  await client.until((received) => received.includes('data: 1'))
  fail()
  await client.ended
  expect(parseResponse(client.read())).toMatchObject({ status: 200, isWhole: false })
})
