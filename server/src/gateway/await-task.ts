import type { AttemptSource } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { toLossReport } from './unanswered-use'
import { CancellableDelay } from '../platform/cancellable-delay'
import type { ImageAdapter, ImageAnswer, ImageTask } from '../providers/image-adapter'
import { findUpstreamError } from '../providers/upstream-error'
import { reportLoss, type UpstreamAttempt } from '../upstream/attempt'
import { AttemptFailed, toAttemptFailed } from '../upstream/attempt-failed'
import { classifyLoss } from '../upstream/classify-loss'
import type { Deadline } from '../upstream/deadline'
import { exchange } from '../upstream/exchange'
import type { UpstreamProtocol } from '../upstream/protocol/protocol'
import type { Usage } from '../wire/usage'

/** The first wait for a task, the longest one, and how much longer each is than the one before, in milliseconds. */
const firstDelayMs = 250
const maxDelayMs = 4000
const delayGrowth = 1.5

/** The requests for a task's state that may fail one after the other. */
const maxFailures = 4

/** The parts of the request that a task is of. */
interface TaskRequest {
  deadline: Deadline
  source: AttemptSource
  /** The usage of the task, should its provider bill it without an image. */
  estimate: () => Usage
  toError: ImageAdapter['toError']
}

/**
 * Waits for the images of a task, until the deadline of its request. A task whose state cannot be learned is lost, as an
 * answer is whose connection breaks: it was accepted, so that no other candidate is tried. Throws `AttemptFailed`, and
 * errors that are no failed attempt.
 */
export async function awaitTask(
  attempt: RequestAttempt<unknown>,
  task: ImageTask,
  request: TaskRequest,
): Promise<ImageAnswer> {
  const onLost = toLossReport(attempt, request.estimate)
  let state: unknown
  try {
    state = await pollUntilDone(attempt, task, request)
  } catch (thrown) {
    const reason = thrown instanceof AttemptFailed ? thrown.error : thrown
    onLost(classifyLoss(reason) ?? 'failed', 0)
    const failure = toAttemptFailed(reason, request.source)
    throw failure instanceof AttemptFailed ? new AttemptFailed(failure.error, false) : failure
  }
  try {
    return task.read(state)
  } catch (thrown) {
    reportLoss({ onLost }, thrown)
    throw thrown
  }
}

/** Asks for the state of a task until that is the last one. */
async function pollUntilDone(
  attempt: RequestAttempt<unknown>,
  { request, isPending }: ImageTask,
  { deadline, source, toError }: TaskRequest,
): Promise<unknown> {
  const protocol: UpstreamProtocol = {
    request: { operation: 'images', ...request, headers: { accept: 'application/json' } },
    source,
    framing: 'sse',
    toError: (refusal) => toError(refusal, source),
    replaceRefused: () => false,
  }
  const poll: UpstreamAttempt = {
    candidate: attempt.candidate,
    request: attempt.request,
    protocol,
    deadline,
  }
  let failures = 0
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * delayGrowth, maxDelayMs)) {
    await waitFor(delayMs, deadline)
    try {
      const state = await exchange(poll, { read: (answer) => answer })
      if (!isPending(state)) return state
      failures = 0
    } catch (thrown) {
      failures += 1
      if (failures > maxFailures || deadline.aborted || !isPassing(thrown)) throw thrown
    }
  }
}

/** Waits; throws the reason of a deadline that ends meanwhile. */
async function waitFor(delayMs: number, deadline: Deadline): Promise<void> {
  const delay = new CancellableDelay()
  const listener = { handleEvent: () => delay.cancel() }
  deadline.addEventListener('abort', listener)
  try {
    if (!deadline.aborted) await delay.wait(delayMs)
  } finally {
    deadline.removeEventListener('abort', listener)
  }
  if (deadline.reason) throw deadline.reason
}

/** Returns whether the next request may succeed: the connection was lost, or the provider is only busy. */
function isPassing(thrown: unknown): boolean {
  if (!(thrown instanceof AttemptFailed)) return false
  const { error } = thrown
  const status = findUpstreamError(error)?.status
  return status === undefined ? error.code === 'connection_failed' : status === 429 || status >= 500
}
