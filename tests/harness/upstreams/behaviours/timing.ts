import { answerOf } from '../answer'
import { type Behaviour, type Call, numberOf } from '../call'
import {
  type Frame,
  deliver,
  firstFrames,
  framesOf,
  openAnswer,
  toFrame,
  writeFrame,
  writeFrames,
} from '../deliver'
import { text, wordScript } from '../script'

/** Sends `frames` so that the n-th leaves n × `gapMs` after the first; lateness is made up for. */
async function paced(call: Call, frames: readonly Frame[], gapMs: number): Promise<void> {
  let due = performance.now()
  for (const frame of frames) {
    const wait = due - performance.now()
    if (wait > 0) await call.reply.connection.sleep(wait)
    await writeFrame(call, frame)
    if (frame.tokens > 0) due += gapMs
  }
  await call.reply.finish()
}

/** `rate-<tok/s>`: as many words as the request's output limit allows, 64 without one. */
const rate: Behaviour = async (call) => {
  const answer = answerOf(call, wordScript(call.attempt.cap ?? 64))
  openAnswer(call, answer)
  await paced(call, framesOf(answer), 1000 / numberOf(call, 20))
}

/** `chunks-<n>` at full speed, `chunks-<n>-gap-<ms>` at a steady pace. The output limit is ignored. */
const chunks: Behaviour = async (call) => {
  const [count = '10', gapMs = '0'] = call.argument.split('-gap-')
  const answer = answerOf(call, { ...wordScript(Number(count)), uncapped: true })
  if (!answer.stream) return deliver(call, answer)
  openAnswer(call, answer)
  await paced(call, framesOf(answer), Number(gapMs))
}

/** `held-<n>`: n words, the last of which, as a whole answer, waits until the test releases it. */
const held: Behaviour = async (call) => {
  const answer = answerOf(call, { ...wordScript(numberOf(call, 10)), uncapped: true })
  const frames = framesOf(answer)
  const begun = answer.stream ? firstFrames(frames, numberOf(call, 10) - 1) : []
  if (answer.stream) openAnswer(call, answer)
  await writeFrames(call, begun)
  await call.hold()
  if (!answer.stream) return deliver(call, answer)
  await writeFrames(call, frames.slice(begun.length))
  await call.reply.finish()
}

/** Nothing at all, not even a status line, until the test releases it. */
const heldFirst: Behaviour = async (call) => {
  await call.hold()
  await deliver(call, answerOf(call))
}

/** Nothing at all for that long, not even a status line. */
const slowFirst: Behaviour = async (call) => {
  await call.reply.connection.sleep(numberOf(call, 1000))
  await deliver(call, answerOf(call))
}

/** The head at once, the first event after `wait`. */
const lateEvent =
  (wait: (call: Call) => Promise<void>): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    openAnswer(call, answer)
    await call.reply.flush()
    await wait(call)
    await writeFrames(call, framesOf(answer))
    await call.reply.finish()
  }

/** Sends what `cut` leaves of the frames, then holds the socket until the caller gives up. */
const stalling =
  (cut: (frames: Frame[], call: Call) => (string | Uint8Array | Frame)[]): Behaviour =>
  async (call) => {
    const answer = answerOf(call, wordScript(Math.max(10, numberOf(call, 3) + 3)))
    openAnswer(call, answer)
    for (const piece of cut(framesOf(answer), call)) {
      if (typeof piece === 'string' || piece instanceof Uint8Array) await call.reply.body(piece)
      else await writeFrame(call, piece)
    }
    await call.reply.connection.sleep(Infinity)
  }

/** Three whole events, then half of a line whose last byte is half of a character. */
function midCharacter(frames: Frame[]): (Uint8Array | Frame)[] {
  const whole = firstFrames(frames, 3)
  const next = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"\u{1F600}')
  return [...whole, next.subarray(0, -2)]
}

/** One byte of a good stream every so many seconds. */
const trickle: Behaviour = async (call) => {
  const answer = answerOf(call)
  const bytes = Buffer.from(
    framesOf(answer)
      .map(({ text }) => text)
      .join(''),
  )
  openAnswer(call, answer)
  for (const byte of bytes) {
    await call.reply.body(Uint8Array.of(byte))
    await call.reply.connection.sleep(numberOf(call, 30) * 1000)
  }
  await call.reply.finish()
}

/** Content without end, as fast as the caller takes it; in pieces of so many characters. */
const endless: Behaviour = async (call) => {
  const answer = answerOf(call)
  openAnswer(call, answer)
  const [role, content] = answer.chunks
  if (!role || !content) return call.reply.connection.sleep(Infinity)
  await writeFrame(call, toFrame(role))
  const piece = ' more'.padEnd(numberOf(call, 0), '.')
  const frame = toFrame({ ...content, data: { ...content.data, choices: [choice(piece)] } })
  for (let count = 1; ; count++) {
    call.attempt.completionTokens = count
    await writeFrame(call, frame)
    // Writes that the kernel takes at once never yield, and others want to be served as well.
    if (count % 64 === 0) await call.reply.connection.turn()
  }
}

const choice = (content: string) => ({
  index: 0,
  delta: text(content).delta,
  logprobs: null,
  finish_reason: null,
})

export const timing: Record<string, Behaviour> = {
  ok: async (call) => deliver(call, answerOf(call)),
  rate,
  chunks,
  held,
  'slow-first': slowFirst,
  'slow-event': lateEvent((call) => call.reply.connection.sleep(numberOf(call, 1000))),
  'held-first': heldFirst,
  'held-event': lateEvent((call) => call.hold()),
  'stall-after': stalling((frames, call) => firstFrames(frames, numberOf(call, 3))),
  'stall-mid-line': stalling((frames) => [
    ...firstFrames(frames, 3),
    'data: {"choices":[{"index":0,',
  ]),
  'stall-mid-char': stalling(midCharacter),
  trickle,
  endless,
}
