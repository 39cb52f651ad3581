import { expect, test } from 'bun:test'
import { bounds, type ToGateway } from './frames'
import { createTwoNodes } from '../../testing/tunnel/two-nodes'
import { eventually } from '../../testing/eventually'

/** A content of so many bytes, read in pieces. */
function createContent(bytes: number) {
  const whole = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251))
  return {
    type: 'audio/wav',
    bytes,
    whole,
    async *read() {
      for (let at = 0; at < bytes; at += 65_536) yield whole.subarray(at, at + 65_536)
    },
  }
}

/** The content in frames of that kind. */
const bytesOf = (frames: readonly ToGateway[]) =>
  Buffer.concat(
    frames.map((frame) => Buffer.from(frame.type === 'content' ? frame.data : '', 'base64')),
  )

const sizeOf = (frames: readonly ToGateway[]) => bytesOf(frames).byteLength

/** The id of the request on the socket. */
const idOf = ([frame]: readonly ToGateway[]) => frame?.id ?? ''

test('a request over two nodes has its content in pieces, as the gateway grants them, and its sound as bytes', async () => {
  await using fixture = createTwoNodes()
  const { link, sentOf } = fixture.gateway
  const content = createContent(600_000)
  let isReleased = false
  const sent = { release: () => void (isReleased = true) }
  const call = { model: 'mine', path: '/audio/speech', body: {}, content, sent, isBinary: true }
  const pending = fixture.send(call)
  await eventually(() => sizeOf(sentOf('content')) === bounds.windowBytes)
  expect(sentOf('request')).toMatchObject([
    { content: { type: 'audio/wav', bytes: 600_000 }, binary: true, body: {} },
  ])
  const id = idOf(sentOf('request'))
  link.take({ type: 'window', id, bytes: 1000 })
  await eventually(() => sizeOf(sentOf('content')) === bounds.windowBytes + 1000)
  expect(isReleased).toBe(false)
  await eventually(() => {
    link.take({ type: 'window', id, bytes: bounds.windowBytes })
    return isReleased
  })
  expect(bytesOf(sentOf('content'))).toEqual(content.whole)
  const sound = Buffer.from([0xff, 0x00, 0xfe])
  link.take({ type: 'chunk', id, data: sound.toString('base64'), encoding: 'base64' })
  const answer = await pending
  expect(Buffer.from((await answer.read()) ?? [])).toEqual(sound)
  link.take({ type: 'response', id, status: 200 })
  expect(await answer.read()).toBeUndefined()
  expect(link.size).toBe(0)
})

test('a request with sound fails unsent where an older gateway has replaced its gateway', async () => {
  await using fixture = createTwoNodes()
  const { link, sentOf } = fixture.gateway
  if (link.capabilities) link.capabilities.takesMedia = false
  const call = { model: 'mine', path: '/audio/speech', body: {}, isBinary: true }
  await expect(fixture.send(call)).rejects.toMatchObject({ connected: false })
  expect(sentOf('request')).toEqual([])
})
