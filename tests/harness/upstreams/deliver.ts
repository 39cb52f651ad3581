import type { Answer, Chunk } from './answer-shape'
import type { Call, Json } from './call'
import type { HeadOptions } from './reply'

/** One write of a body. `ends` completes the answer, and with it a bill of `bill-done`. */
export interface Frame {
  text: string
  tokens: number
  ends: boolean
}

export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
}

export const doneFrame: Frame = { text: 'data: [DONE]\n\n', tokens: 0, ends: false }

const eventOf = ({ type }: Json) => (typeof type === 'string' ? `event: ${type}\n` : '')

export const toFrame = ({ data, tokens, ends }: Chunk): Frame => ({
  text: `${eventOf(data)}data: ${JSON.stringify(data)}\n\n`,
  tokens,
  ends,
})

/** Pieces a body that is not streamed is cut into, so that it can break in the middle as well. */
const bodyChunks = 8

/** The body of an answer as it is written: an event each and `[DONE]`, or a JSON text in pieces. */
export function framesOf({ stream, chunks, whole, usage, isNamed }: Answer): Frame[] {
  if (stream) return [...chunks.map(toFrame), ...(isNamed ? [] : [doneFrame])]
  const json = JSON.stringify(whole)
  const size = Math.ceil(json.length / bodyChunks)
  const share = (count: number) =>
    Math.floor((Number(usage['completion_tokens']) * count) / bodyChunks)
  return Array.from({ length: bodyChunks }, (_, index) => ({
    text: json.slice(index * size, (index + 1) * size),
    tokens: share(index + 1) - share(index),
    ends: index === bodyChunks - 1,
  }))
}

/** The frames up to and with the `count`-th that carries output; never the last one. */
export function firstFrames(frames: readonly Frame[], count: number): Frame[] {
  let seen = 0
  const end = frames.findIndex(({ tokens, ends }) => ends || (tokens > 0 && ++seen > count))
  return frames.slice(0, Math.max(0, end))
}

/** Prepares the head of a good answer; its body is chunked, so its length may still be anything. */
export function openAnswer({ reply }: Call, { stream }: Answer, options: HeadOptions = {}): void {
  const headers = stream ? sseHeaders : { 'content-type': 'application/json' }
  reply.head(200, { headers, ...options })
}

/** Puts a frame on the bill: for those who wrote its bytes in their own way. */
export function charge({ attempt }: Call, { tokens, ends }: Frame): void {
  attempt.tokensSent += tokens
  if (ends) attempt.complete = true
}

/** Writes one frame and counts what it gave away. */
export async function writeFrame(call: Call, frame: Frame): Promise<void> {
  await call.reply.body(frame.text)
  charge(call, frame)
}

export async function writeFrames(call: Call, frames: readonly Frame[]): Promise<void> {
  for (const frame of frames) await writeFrame(call, frame)
}

/** Sends a good answer, or one whose content was spoiled before: a stream event by event. */
export async function deliver(call: Call, answer: Answer): Promise<void> {
  if (!answer.stream) {
    await call.reply.json(200, answer.whole)
    call.attempt.tokensSent = call.attempt.completionTokens
    call.attempt.complete = true
    return
  }
  openAnswer(call, answer)
  await writeFrames(call, framesOf(answer))
  await call.reply.finish()
}
