import { reportLoss, send, shareOf, type UpstreamAttempt } from './attempt'
import { toAttemptFailed, refusalInAnswer } from './attempt-failed'
import { wrongType } from './framing'
import { replaceRefused } from './second-try'
import type { LoopShare } from './stream-work'
import { AnswerTooLong, LocalAnswer, readText, type Answer } from './http/answer'
import { isFailure } from '../providers/event'
import { toFailure } from '../providers/upstream-error'
import { maxAnswerBytes } from '../wire/answer'
import { isObject, maxConcurrent } from '../wire/json-body'
import { answerShape, ShapeExceeded } from '../wire/json-shape'
import { parseInSlices, parseShaped, yieldToLoop } from '../wire/json-slices'

/** The cost of an answer beside its parsing, in milliseconds for each of its bytes. */
const byteMs = 4e-6

/** Reads answers to requests that are answered as a whole. */
export interface AnswerReader<Result> {
  /** Reads a whole answer: its JSON, and its headers. Throws where it is none. */
  read: (answer: unknown, headers: Answer['headers']) => Result
  /** Reads an answer that is a stream, though none was requested; rejected where absent. Throws `AttemptFailed`. */
  readStream?: (answer: Answer) => Promise<Result>
}

/**
 * Sends an attempt, and reads its whole answer: JSON, whatever its type says, or a stream where the reader takes one.
 * Throws `AttemptFailed`, and as `read`.
 */
export async function exchange<Result>(
  attempt: UpstreamAttempt,
  reader: AnswerReader<Result>,
): Promise<Result> {
  const { source } = attempt.protocol
  const response = await send(attempt)
  const type = response.headers.get('content-type') ?? ''
  if (reader.readStream && !isJsonType(type)) return reader.readStream(response)
  let answer: unknown
  let text: string
  try {
    text = await readWhole(response, attempt)
    const isStream = reader.readStream !== undefined && stream.test(text)
    if (!isStream) {
      const parsed = parseAnswer(text, type, attempt)
      answer = parsed instanceof Promise ? await parsed : parsed
    }
    if (isObject(answer) && isFailure(answer)) throw refusalInAnswer(toFailure(answer, source))
  } catch (thrown) {
    reportLoss(attempt, thrown)
    await chargeUnreadable(thrown, shareOf(attempt))
    const failed = toAttemptFailed(thrown, source)
    if (!replaceRefused(attempt.protocol, failed)) throw failed
    return exchange(attempt, reader)
  }
  if (answer === undefined && reader.readStream) {
    return reader.readStream(new LocalAnswer(new Response(text)))
  }
  try {
    return reader.read(answer, response.headers)
  } catch (thrown) {
    reportLoss(attempt, thrown)
    throw thrown
  }
}

/** Reads the text of an answer; of one that may be large, in the memory budget of these. */
function readWhole(response: Answer, { large }: UpstreamAttempt): Promise<string> {
  if (!large) return response.text(maxAnswerBytes)
  let bytes = 0
  const read = async () => {
    const piece = await response.read()
    bytes += piece?.byteLength ?? 0
    // Its text, and the objects in it.
    large.memory.resize(2 * bytes)
    return piece
  }
  return readText({ read, cancel: () => response.cancel() }, large.maxBytes)
}

/** The cost of an unreadable answer, in milliseconds: at least, and where it was too long. */
const unreadableMs = 2
const tooLongMs = 100

/** Slows down a provider that sends only unreadable answers, by its owner's share of the event loop. */
async function chargeUnreadable(thrown: unknown, share: LoopShare): Promise<void> {
  const isTooLong = thrown instanceof AnswerTooLong
  if (!isTooLong && !(thrown instanceof ShapeExceeded) && !(thrown instanceof SyntaxError)) return
  await share.spend(isTooLong ? tooLongMs : unreadableMs, 'idle')
}

/** Parses an answer that is no stream; a large one in slices. Throws where it is no JSON, whatever its type says. */
function parseAnswer(text: string, type: string, attempt: UpstreamAttempt): unknown {
  if (!isJsonType(type) && !json.test(text)) throw wrongType(attempt.protocol.source, type)
  return text.length <= maxConcurrent
    ? parseShaped(text, answerShape)
    : parseLarge(text, shareOf(attempt))
}

/** Parses in slices, all of them in the share of the answer's owner. */
async function parseLarge(text: string, share: LoopShare): Promise<unknown> {
  await share.spend(text.length * byteMs, 'useful')
  return parseInSlices(text, answerShape, async (ms) => {
    await yieldToLoop()
    await share.spend(ms, 'useful')
  })
}

const jsonType = /\bjson\b/i
const isJsonType = (type: string): boolean => type === '' || jsonType.test(type)

const json = /^\s*[[{]/
/** Server-sent events. */
const stream = /^\s*(?:data|event|id|retry)?:/
