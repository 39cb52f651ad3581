import { answerOf } from '../answer'
import { type Behaviour, type Call, numberOf } from '../call'
import { type Frame, firstFrames, framesOf, openAnswer, writeFrame, writeFrames } from '../deliver'
import type { Framing } from '../reply'
import { wordScript } from '../script'

/** A reset overtakes bytes the peer has not read yet; this is its time to read them. */
const readTimeMs = 20

/** The first k output chunks, and then `end`. Without a stream: k eighths of the body. */
const afterChunks =
  (end: (call: Call) => Promise<void> | void, framing: Framing = 'chunked'): Behaviour =>
  async (call) => {
    const count = numberOf(call, 3)
    const answer = answerOf(call, wordScript(Math.max(10, count + 3)))
    openAnswer(call, answer, { framing })
    await writeFrames(call, firstFrames(framesOf(answer), count))
    await call.reply.flush()
    await end(call)
  }

/** A good answer whose frames were edited before they are written. */
const ending =
  (edit: (frames: Frame[]) => Frame[]): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    openAnswer(call, answer)
    const frames = framesOf(answer)
    await writeFrames(call, answer.stream ? edit(frames) : frames)
    await call.reply.finish()
  }

const isFinish = ({ text }: Frame) => /"finish_reason":"/.test(text)

/** The same, and then the connection is lost in the middle of the body. */
const losing =
  (edit: (frames: Frame[]) => Frame[]): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    openAnswer(call, answer)
    await writeFrames(call, edit(framesOf(answer)))
    await call.reply.flush()
    call.reply.connection.close()
  }

const isUsage = ({ text }: Frame) => /"choices":\[\]/.test(text)

/** The whole answer and `[DONE]`, but the body never ends. */
const doneOpen: Behaviour = async (call) => {
  const answer = answerOf(call)
  openAnswer(call, answer)
  for (const frame of framesOf(answer)) await writeFrame(call, frame)
  await call.reply.connection.sleep(Infinity)
}

const late: Frame = {
  text: 'data: {"id":"late","object":"chat.completion.chunk","created":1780000000,"model":"late","choices":[{"index":0,"delta":{"content":" late"},"finish_reason":null}]}\n\n',
  tokens: 1,
  ends: false,
}

export const endings: Record<string, Behaviour> = {
  'close-after': afterChunks(({ reply }) => reply.connection.close()),
  'rst-after': afterChunks(async ({ reply }) => {
    await reply.connection.sleep(readTimeMs)
    reply.connection.reset()
  }),
  // Whole as far as HTTP can tell: only the missing finish reason shows that something is gone.
  'end-after': afterChunks(({ reply }) => reply.finish()),
  'eof-after': afterChunks(({ reply }) => reply.finish(), 'until-close'),
  'no-finish': ending((frames) =>
    frames.filter((frame) => !isFinish(frame)).map((frame) => ({ ...frame, ends: false })),
  ),
  'no-done': ending((frames) => frames.slice(0, -1)),
  'no-done-no-usage': ending((frames) => frames.slice(0, -1).filter((frame) => !isUsage(frame))),
  'lost-done': losing((frames) => frames.slice(0, -1)),
  'lost-usage': losing((frames) => frames.slice(0, -1).filter((frame) => !isUsage(frame))),
  'done-open': doneOpen,
  'done-twice': ending((frames) => [...frames, ...frames.slice(-1)]),
  'data-after-done': ending((frames) => [...frames, late]),
}
