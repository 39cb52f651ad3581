import { answerOf } from '../answer'
import { type Behaviour, type Call, numberOf } from '../call'
import { firstFrames, framesOf, openAnswer, sseHeaders, writeFrames } from '../deliver'
import { wordScript } from '../script'

const page =
  '<!doctype html><html><head><title>Error</title></head><body><h1>Bad gateway</h1></body></html>'

const html =
  (status: number): Behaviour =>
  ({ reply }) =>
    reply.whole(status, page, { 'content-type': 'text/html; charset=utf-8' })

/** Half of the JSON, ended properly: of the body, or of one event of a stream. */
const halfJson: Behaviour = async (call) => {
  const answer = answerOf(call)
  const frames = framesOf(answer)
  openAnswer(call, answer)
  await writeFrames(call, firstFrames(frames, 3))
  if (answer.stream) await call.reply.body('data: {"id":"half","choices":[{"ind\n\n')
  await call.reply.finish()
}

/** A line that is no JSON after k good chunks, the rest of the stream behind it. */
const badJson: Behaviour = async (call) => {
  const count = numberOf(call, 3)
  const answer = answerOf(call, wordScript(count + 3))
  if (!answer.stream)
    return call.reply.whole(200, '{"id": oops}', { 'content-type': 'application/json' })
  const frames = framesOf(answer)
  const good = firstFrames(frames, count)
  openAnswer(call, answer)
  await writeFrames(call, good)
  await call.reply.body('data: {"id": oops secret-of-the-upstream}\n\n')
  await writeFrames(call, frames.slice(good.length))
  await call.reply.finish()
}

/** A good body under a type that does not fit it. */
const wrongType: Behaviour = async (call) => {
  const answer = answerOf(call)
  openAnswer(call, answer, { headers: { 'content-type': 'text/plain' } })
  await writeFrames(call, framesOf(answer))
  await call.reply.finish()
}

const mebibyte = 1 << 20

/** Writes `count` times the same bytes without ever holding more than one of them. */
export async function repeat({ reply }: Call, block: Uint8Array, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await reply.body(block)
    if (index % 8 === 0) await reply.connection.turn()
  }
}

/** One JSON string of a gibibyte, `json-1g`, or of `json-big-<MiB>`. */
const hugeJson =
  (defaultMebibytes: number): Behaviour =>
  async (call) => {
    call.reply.head(200, { headers: { 'content-type': 'application/json' } })
    await call.reply.body('{"id":"')
    await repeat(call, Buffer.alloc(mebibyte, 'a'), numberOf(call, defaultMebibytes))
    await call.reply.body('"}')
    await call.reply.finish()
  }

export const badBodies: Record<string, Behaviour> = {
  'half-json': halfJson,
  'bad-json': badJson,
  'html-200': html(200),
  'html-500': html(500),
  'empty-200': ({ reply, received }) =>
    reply.whole(200, '', received.body['stream'] === true ? sseHeaders : {}),
  '204': async ({ reply }) => {
    reply.head(204, { framing: 0 })
    await reply.flush()
  },
  'json-array': ({ reply }) => reply.json(200, [{ id: 'chatcmpl-array', choices: [] }]),
  'wrong-type': wrongType,
  'json-1g': hugeJson(1024),
  'json-big': hugeJson(8),
}
