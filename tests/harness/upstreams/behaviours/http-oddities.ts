import { answerOf } from '../answer'
import type { Behaviour, Call } from '../call'
import { charge, deliver, framesOf, openAnswer, sseHeaders, writeFrames } from '../deliver'

const typeOf = (call: Call) =>
  call.received.body['stream'] === true ? sseHeaders : { 'content-type': 'application/json' }

/** A good answer with more headers than usual. */
const withHeaders =
  (more: readonly (readonly [string, string])[]): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    openAnswer(call, answer, { headers: [...Object.entries(typeOf(call)), ...more] })
    await writeFrames(call, framesOf(answer))
    await call.reply.finish()
  }

/** A good body whose `content-length` is off by `difference` bytes; the connection ends after it. */
const wrongLength =
  (difference: number): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    const frames = framesOf(answer)
    const body = Buffer.from(frames.map(({ text }) => text).join(''))
    openAnswer(call, answer, { framing: body.length + difference })
    await call.reply.body(body)
    for (const frame of frames) charge(call, frame)
    call.reply.connection.close()
  }

const earlyHints: Behaviour = async (call) => {
  await call.reply.connection.write(
    'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n',
  )
  await deliver(call, answerOf(call))
}

const trailers: Behaviour = async (call) => {
  const answer = answerOf(call)
  openAnswer(call, answer, { headers: { ...typeOf(call), trailer: 'x-checksum, set-cookie' } })
  await writeFrames(call, framesOf(answer))
  await call.reply.connection.write('0\r\nx-checksum: 1\r\nset-cookie: trailer=1\r\n\r\n')
}

/**
 * Line breaks where they would become headers of ours: a bare LF in a header value, CR LF in the id
 * of the body. The head itself comes in two segments, cut inside a header's name.
 */
const splitHeader: Behaviour = async (call) => {
  const answer = answerOf(call)
  const id = 'chatcmpl-split\r\nset-cookie: body=1'
  const chunks = answer.chunks.map((chunk) => ({ ...chunk, data: { ...chunk.data, id } }))
  const frames = framesOf({ ...answer, chunks, whole: { ...answer.whole, id } })
  await call.reply.connection.write(
    'HTTP/1.1 200 OK\r\nx-request-id: up\nset-cookie: header=1\r\ncontent-',
  )
  await call.reply.connection.sleep(5)
  await call.reply.connection.write(
    `type: ${typeOf(call)['content-type']}\r\ntransfer-encoding: chunked\r\n\r\n`,
  )
  await writeFrames(call, frames)
  await call.reply.finish()
}

/** A good answer that keeps the connection, and a close when the next request arrives on it. */
const staleKeepalive: Behaviour = async (call) => {
  call.reply.connection.closesOnNextRequest = true
  await deliver(call, answerOf(call))
}

const many = Array.from({ length: 196 }, (_, index) => [`x-noise-${index}`, String(index)] as const)
const telling = [
  ['server', 'fake-provider/1.0'],
  ['set-cookie', 'session=upstream; Path=/'],
  ['x-upstream-secret', 'internal-host-17'],
  ['alt-svc', 'h3=":443"'],
] as const

export const httpOddities: Record<string, Behaviour> = {
  'early-hints': earlyHints,
  trailers,
  'headers-100k': withHeaders([['x-large', 'a'.repeat(100_000)]]),
  'headers-200': withHeaders([...telling, ...many]),
  'cl-short': wrongLength(-10),
  'cl-long': wrongLength(10),
  'split-header': splitHeader,
  'stale-keepalive': staleKeepalive,
}
