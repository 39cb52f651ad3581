import { expect, test } from 'bun:test'
import { bounds } from '@tollgate/server/tunnel/frames'
import { Fixture } from './agent-fixture-for-tests'
import { requestFrame } from './tollgate-for-tests'

const contentBytes = 2_000_000
const content = Buffer.from(Array.from({ length: contentBytes }, (_, at) => at % 251))

/** Sends a content as Tollgate does: as much of it as was granted, which is a window at first. */
async function upload({ tollgate }: Fixture, id: string): Promise<void> {
  for (let at = 0; at < contentBytes;) {
    const end = Math.min(at + bounds.contentBytes, contentBytes)
    await tollgate.until(() => end <= grantedFor(tollgate, id))
    tollgate.send({ type: 'content', id, data: content.toString('base64', at, end) })
    at = end
  }
}

/** The bytes that the agent has granted for a request so far. */
const grantedFor = (tollgate: Fixture['tollgate'], id: string) =>
  tollgate
    .of('window')
    .filter((frame) => frame.id === id)
    .reduce((sum, { bytes }) => sum + bytes, bounds.windowBytes)

const uploadFrame = (id: string, path = '/audio/transcriptions') =>
  requestFrame(id, { path, body: {}, content: { type: 'audio/wav', bytes: contentBytes } })

test('a content goes to the server as it arrives, with its type', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = async (request) => {
    const bytes = Buffer.from(await request.arrayBuffer())
    return Response.json({
      type: request.headers.get('content-type'),
      length: request.headers.get('content-length'),
      isSame: bytes.equals(content),
    })
  }
  tollgate.send(uploadFrame('a'))
  await upload(fixture, 'a')
  const [answer] = (await tollgate.ended('a')).filter(({ type }) => type === 'response')
  expect(answer).toMatchObject({
    status: 200,
    body: JSON.stringify({ type: 'audio/wav', length: String(contentBytes), isSame: true }),
  })
  expect(server.requests).toMatchObject([{ path: '/v1/audio/transcriptions' }])
})

test('a server may refuse a content before it has read it', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = () => Response.json({ error: { message: 'too large' } }, { status: 413 })
  tollgate.send(uploadFrame('a'))
  tollgate.send({ type: 'content', id: 'a', data: content.toString('base64', 0, 1000) })
  const frames = await tollgate.ended('a')
  expect(frames.at(-1)).toMatchObject({ type: 'response', status: 413 })
  // What was sent meanwhile belongs to no request.
  tollgate.send({ type: 'content', id: 'a', data: content.toString('base64', 0, 1000) })
  server.answer = () => Response.json({ id: 'chat-1' })
  tollgate.send(requestFrame('b'))
  expect(await tollgate.ended('b')).toMatchObject([{ status: 200 }])
})

test('a content that is longer than announced, or than granted, ends its request', async () => {
  await using fixture = await Fixture.open()
  const { tollgate } = fixture
  tollgate.send(
    requestFrame('a', { path: '/audio/transcriptions', content: { type: 'audio/wav', bytes: 10 } }),
  )
  tollgate.send({ type: 'content', id: 'a', data: content.toString('base64', 0, 1000) })
  expect((await tollgate.ended('a')).at(-1)).toMatchObject({ type: 'error' })
})

test('a cancelled upload is cancelled at the server', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  server.answer = async (request) => new Response(await request.arrayBuffer())
  tollgate.send(uploadFrame('a'))
  await tollgate.until(() => server.requests.length === 1)
  tollgate.send({ type: 'cancel', id: 'a' })
  await tollgate.until(() => server.aborted === 1)
})

test('an answer of bytes comes as it is made, within its window', async () => {
  await using fixture = await Fixture.open()
  const { tollgate, server } = fixture
  const rest = Promise.withResolvers<void>()
  server.answer = () =>
    new Response(
      async function* () {
        yield content.subarray(0, 1000)
        await rest.promise
        yield content.subarray(1000)
      },
      { headers: { 'content-type': 'audio/mpeg' } },
    )
  const bytesOf = () =>
    Buffer.concat(tollgate.of('chunk').map(({ data, encoding }) => Buffer.from(data, encoding)))
  tollgate.send(requestFrame('a', { path: '/audio/speech', stream: true, binary: true }))
  await tollgate.until(() => bytesOf().byteLength === 1000)
  expect(tollgate.of('chunk')).toMatchObject([{ headers: { 'content-type': 'audio/mpeg' } }])
  rest.resolve()
  await tollgate.until(() => bytesOf().byteLength === bounds.windowBytes)
  tollgate.send({ type: 'window', id: 'a', bytes: contentBytes })
  expect((await tollgate.ended('a')).at(-1)).toEqual({ type: 'response', id: 'a', status: 200 })
  expect(bytesOf().equals(content)).toBe(true)
})
