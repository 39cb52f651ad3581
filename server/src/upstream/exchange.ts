import { maxAnswerBytes, send, shareOf, tellLoss, type Attempt } from './attempt'
import { AttemptFailed, toAttemptFailed, refusedInside } from './attempt-failed'
import type { LoopShare } from './stream-work'
import { AnswerTooLong, type Answer } from './http/answer'
import { isFailure } from '../providers/event'
import { toFailure, nonsense, type ErrorSource } from '../providers/upstream-error'
import { isObject, maxAtOnce } from '../wire/json-body'
import { answerShape, ShapeExceeded } from '../wire/json-shape'
import { parseInSlices, parseShaped } from '../wire/json-slices'

/** The cost of an answer beside its parsing, in milliseconds for each of its bytes. */
const byteMs = 4e-6

/** Reads a whole answer: its JSON, and its headers. Throws where it is none. */
type Reader<Asked extends Attempt, Result> = (
  answer: unknown,
  attempt: Asked,
  headers: Answer['headers'],
) => Result

/** Sends an attempt, and reads its whole answer, which is JSON. Throws `AttemptFailed`, and as `read`. */
export async function exchange<Asked extends Attempt, Result>(
  attempt: Asked,
  read: Reader<Asked, Result>,
): Promise<Result> {
  const { source } = attempt.sent
  const response = await send(attempt)
  let answer: unknown
  try {
    checkType(response, source)
    const text = await response.text(maxAnswerBytes)
    const isSmall = text.length <= maxAtOnce
    answer = isSmall ? parseShaped(text, answerShape) : await parsedLarge(text, shareOf(attempt))
    if (isObject(answer) && isFailure(answer)) throw refusedInside(toFailure(answer, source))
  } catch (thrown) {
    tellLoss(attempt, thrown)
    await paceUnreadable(thrown, shareOf(attempt))
    throw toAttemptFailed(thrown, source)
  }
  try {
    return read(answer, attempt, response.headers)
  } catch (thrown) {
    tellLoss(attempt, thrown)
    throw thrown
  }
}

/** The cost of an unreadable answer, in milliseconds: at least, and where it was too long. */
const unreadableMs = 2
const tooLongMs = 100

/** Slows down a provider that sends only unreadable answers, by its owner's share of the event loop. */
async function paceUnreadable(thrown: unknown, share: LoopShare): Promise<void> {
  const isTooLong = thrown instanceof AnswerTooLong
  if (!isTooLong && !(thrown instanceof ShapeExceeded) && !(thrown instanceof SyntaxError)) return
  await share.spend(isTooLong ? tooLongMs : unreadableMs, 'idle')
}

/** Parses in slices, all of them in the share of the answer's owner. */
async function parsedLarge(text: string, share: LoopShare): Promise<unknown> {
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
  throw new AttemptFailed(nonsense(provider, `an answer of type "${type.slice(0, 80)}"`), false)
}
