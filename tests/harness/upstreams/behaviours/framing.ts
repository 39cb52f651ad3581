import { answerOf } from '../answer'
import type { Behaviour, Call } from '../call'
import { type Frame, charge, framesOf, openAnswer, writeFrames } from '../deliver'
import { repeat } from './bad-bodies'

/** A good stream written in another SSE spelling; without a stream, a good answer. */
const spelled =
  (spell: (frames: Frame[]) => Frame[]): Behaviour =>
  async (call) => {
    const answer = answerOf(call)
    const frames = framesOf(answer)
    openAnswer(call, answer)
    await writeFrames(call, answer.stream ? spell(frames) : frames)
    await call.reply.finish()
  }

/** Every frame changed by itself. */
const eachText = (change: (text: string, index: number) => string) =>
  spelled((frames) => frames.map((frame, index) => ({ ...frame, text: change(frame.text, index) })))

const lineEnds = ['\r\n', '\n', '\r'] as const

/** The JSON spread over lines, each with its own `data:`; together they are the same JSON. */
function multiData(text: string): string {
  const json = text.slice('data: '.length).trimEnd()
  if (!json.startsWith('{')) return text
  const lines = JSON.stringify(JSON.parse(json), null, 1).split('\n')
  return `${lines.map((line) => `data: ${line}`).join('\n')}\n\n`
}

/** Every byte in a chunk and a segment of its own. */
const oneByte: Behaviour = async (call) => {
  const answer = answerOf(call)
  openAnswer(call, answer)
  for (const frame of framesOf(answer)) {
    for (const byte of Buffer.from(frame.text)) {
      await call.reply.body(Uint8Array.of(byte))
      await call.reply.connection.sleep(0)
    }
    charge(call, frame)
  }
  await call.reply.finish()
}

/** One event of `count` MiB on a single line, then the good stream. */
const longLine =
  (mebibytes: number): Behaviour =>
  async (call: Call) => {
    const answer = answerOf(call)
    openAnswer(call, answer)
    await call.reply.body('data: {"choices":[{"index":0,"delta":{"content":"')
    await repeat(call, Buffer.alloc(1 << 20, 'a'), mebibytes)
    await call.reply.body('"},"finish_reason":null}]}\n\n')
    await writeFrames(call, framesOf(answer))
    await call.reply.finish()
  }

export const framing: Record<string, Behaviour> = {
  'crlf-mix': eachText((text, index) => text.replaceAll('\n', lineEnds[index % 3] ?? '\n')),
  crlf: eachText((text) => text.replaceAll('\n', '\r\n')),
  cr: eachText((text) => text.replaceAll('\n', '\r')),
  bom: eachText((text, index) => (index === 0 ? `\u{FEFF}${text}` : text)),
  comments: eachText((text, index) => `: keep-alive ${index}\n\n:\n${text}`),
  'no-space': eachText((text) => text.replace('data: ', 'data:')),
  'multi-data': eachText(multiData),
  'one-byte': oneByte,
  'line-2m': longLine(2),
  'line-21m': longLine(21),
  'line-endless': longLine(Infinity),
}
