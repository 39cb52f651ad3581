import type { RequestAttempt } from './attempt'
import { AttemptFailed } from '../upstream/attempt-failed'
import type { Usage } from '../wire/usage'

/** The number of batches of one request that run at the same time. */
const maxConcurrentBatches = 4

/**
 * Sends the batches of one request, a few at a time, and returns their answers in order. Throws as `send` does. Once a batch
 * is answered, and so billed, a failure is no `AttemptFailed`: no other candidate gets all of it again.
 */
export async function answerBatches<Batch, Answer extends { usage: Usage }>(
  attempt: RequestAttempt<unknown>,
  batches: readonly Batch[],
  send: (batch: Batch) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let start = 0; start < batches.length; start += maxConcurrentBatches) {
    const running = batches.slice(start, start + maxConcurrentBatches).map(send)
    const results = await Promise.allSettled(running)
    for (const result of results) if (result.status === 'fulfilled') answers.push(result.value)
    const failure = results.find(({ status }) => status === 'rejected')
    if (failure?.status !== 'rejected') continue
    for (const { usage } of answers) attempt.unansweredUse.recordAnswer(usage)
    const isBilled = answers.length > 0 && failure.reason instanceof AttemptFailed
    throw isBilled ? failure.reason.error : failure.reason
  }
  return answers
}
