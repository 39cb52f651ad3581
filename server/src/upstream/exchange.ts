import { maxAnswerBytes, reportLoss, send, shareOf, type UpstreamAttempt } from './attempt'
import { AttemptFailed, toAttemptFailed, refusalInAnswer } from './attempt-failed'
import type { LoopShare } from './stream-work'
import { AnswerTooLong, type Answer } from './http/answer'
import { isFailure } from '../providers/event'
import { toFailure, invalidAnswer, type ErrorSource } from '../providers/upstream-error'
import { isObject, maxConcurrent } from '../wire/json-body'
import { answerShape, ShapeExceeded } from '../wire/json-shape'
import { parseInSlices, parseShaped } from '../wire/json-slices'

/** The cost of an answer beside its parsing, in milliseconds for each of its bytes. */
const byteMs = 4e-6

/** Reads a whole answer: its JSON, and its headers. Throws where it is none. */
type AnswerReader<Result> = (answer: unknown, headers: Answer['headers']) => Result

/** Sends an attempt, and reads its whole answer, which is JSON. Throws `AttemptFailed`, and as `read`. */
export async function exchange<Result>(
  attempt: UpstreamAttempt,
  read: AnswerReader<Result>,
): Promise<Result> {
  const { source } = attempt.protocol
  const response = await send(attempt)
  let answer: unknown
  try {
    checkType(response, source)
    const text = await response.text(maxAnswerBytes)
    const isSmall = text.length <= maxConcurrent
    answer = isSmall ? parseShaped(text, answerShape) : await parseLarge(text, shareOf(attempt))
    if (isObject(answer) && isFailure(answer)) throw refusalInAnswer(toFailure(answer, source))
  } catch (thrown) {
    reportLoss(attempt, thrown)
    await chargeUnreadable(thrown, shareOf(attempt))
    throw toAttemptFailed(thrown, source)
  }
  try {
    return read(answer, response.headers)
  } catch (thrown) {
    reportLoss(attempt, thrown)
    throw thrown
  }
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

/** Parses in slices, all of them in the share of the answer's owner. */
async function parseLarge(text: string, share: LoopShare): Promise<unknown> {
  await share.spend(text.length * byteMs, 'useful')
  return parseInSlices(text, answerShape, async (ms) => {
    await new Promise((resolve) => void setImmediate(resolve))
    await share.spend(ms, 'useful')
  })
}

const jsonType = /\bjson\b/i

function checkType(response: Answer, { provider }: ErrorSource): void {
  const type = response.headers.get('content-type') ?? ''
  if (type === '' || jsonType.test(type)) return
  response.cancel()
  throw new AttemptFailed(
    invalidAnswer(provider, `an answer of type "${type.slice(0, 80)}"`),
    false,
  )
}
