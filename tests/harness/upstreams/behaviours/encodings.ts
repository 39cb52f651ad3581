import {
  brotliCompressSync,
  constants,
  crc32,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib'
import { answerOf } from '../answer'
import type { Behaviour, Call } from '../call'
import { framesOf, openAnswer, sseHeaders } from '../deliver'

type Encode = (body: Buffer) => Buffer

/** A good answer, all of it encoded, in one piece and with its true length unless `length` lies. */
const encoded =
  (contentEncoding: string, encode: Encode, length = (honest: number) => honest): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    const text = framesOf(answer)
      .map((frame) => frame.text)
      .join('')
    const body = encode(Buffer.from(text))
    const type = answer.stream ? sseHeaders : { 'content-type': 'application/json' }
    const headers = { ...type, 'content-encoding': contentEncoding }
    openAnswer(call, answer, { headers, framing: length(body.length) })
    await call.reply.body(body)
    call.attempt.tokensSent = call.attempt.completionTokens
    call.attempt.complete = true
    // A length that promises more than was sent is only seen as a lie once the connection ends.
    if (length(body.length) !== body.length) call.reply.connection.close()
  }

const gzip: Encode = (body) => gzipSync(body)

const times =
  (count: number): Encode =>
  (body) =>
    count === 0 ? body : times(count - 1)(gzip(body))

const mebibyte = 1 << 20
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])

/** A gibibyte of spaces as one gzip member of 1 MB, made without ever holding either. */
async function bomb({ reply, received }: Call): Promise<void> {
  const spaces = Buffer.alloc(mebibyte, ' ')
  // A full flush makes each block stand alone, so that one can be sent a thousand times.
  const block = deflateRawSync(spaces, { finishFlush: constants.Z_FULL_FLUSH })
  const type =
    received.body['stream'] === true ? sseHeaders : { 'content-type': 'application/json' }
  reply.head(200, { headers: { ...type, 'content-encoding': 'gzip' } })
  await reply.body(gzipHead)
  let checksum = 0
  for (let index = 0; index < 1024; index++) {
    checksum = crc32(spaces, checksum)
    await reply.body(block)
    if (index % 16 === 0) await reply.connection.turn()
  }
  const tail = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  tail.writeUInt32LE(checksum, 2)
  tail.writeUInt32LE(1024 * mebibyte, 6)
  await reply.body(tail)
  await reply.finish()
}

export const encodings: Record<string, Behaviour> = {
  gzip: encoded('gzip', gzip),
  'gzip-badlen': encoded('gzip', gzip, (honest) => honest + 100),
  br: encoded('br', (body) => brotliCompressSync(body)),
  deflate: encoded('deflate', (body) => deflateSync(body)),
  double: encoded('gzip, gzip', times(2)),
  'chain-10': encoded(Array(10).fill('gzip').join(', '), times(10)),
  'bomb-1g': bomb,
}
