import { expect, test } from 'bun:test'
import type { SessionTurn } from './conversation'
import { Runs } from './message-runs'
import { unavailable } from '../errors'
import { settled } from '../../testing/clock'

const turn = (runId: string): SessionTurn => ({ runId, sessionId: `of ${runId}`, userId: 'user_1' })
const neverAborted = new AbortController().signal

/** A clock of 1 ms, and what is found to be held when it strikes. */
function open(
  renew: (turns: readonly SessionTurn[]) => Promise<Set<string>>,
  errors: unknown[] = [],
) {
  return new Runs({ renew, everyMs: 1, closeMs: 60_000, onError: (error) => errors.push(error) })
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })

test('a run with a lost turn is ended, the others continue', async () => {
  await using runs = open(async () => new Set(['kept']))
  const [renewed, lost] = ['kept', 'lost'].map((id) => runs.begin(turn(id), neverAborted))
  await aborted(lost?.signal ?? neverAborted)
  expect([renewed?.signal.aborted, renewed?.end, lost?.end?.code]).toEqual([
    false,
    undefined,
    'gateway_unavailable',
  ])
  renewed?.finish()
  lost?.finish()
})

test('a database that is away ends nothing', async () => {
  const errors: unknown[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const renew = async () => {
    if (errors.length === 2) resolve()
    throw new Error('away')
  }
  await using runs = open(renew, errors)
  const run = runs.begin(turn('one'), neverAborted)
  await promise
  expect(run.signal.aborted).toBe(false)
  run.finish()
})

test('a run ends with its session, and with its caller, which is another matter', async () => {
  await using runs = open(async (turns) => new Set(turns.map(({ runId }) => runId)))
  const caller = new AbortController()
  const [disconnected, ended] = [
    runs.begin(turn('a'), caller.signal),
    runs.begin(turn('b'), neverAborted),
  ]
  caller.abort()
  runs.cancel('of b')
  expect([disconnected.signal.aborted, ended.signal.aborted]).toEqual([true, true])
  const thrown = new Error('gone')
  expect(disconnected.callerError(thrown)).toBe(thrown)
  expect(ended.callerError(thrown)).toMatchObject({
    param: 'status',
    details: { issue: 'wrong_state' },
  })
  disconnected.finish()
  ended.finish()
})

test('a run that is halted lets the model end, but no tool; all are, when the process stops', async () => {
  await using runs = open(async (turns) => new Set(turns.map(({ runId }) => runId)))
  const [paused, running] = [
    runs.begin(turn('a'), neverAborted),
    runs.begin(turn('b'), neverAborted),
  ]
  runs.halt('of a')
  expect([paused.signal.aborted, paused.haltSignal.aborted]).toEqual([false, true])
  expect(running.haltSignal.aborted).toBe(false)
  const { reason } = paused.haltSignal
  expect(paused.callerError(reason)).toMatchObject({ details: { issue: 'wrong_state' } })
  expect(paused.callerError(reason, 'streamed')).toMatchObject({ code: 'gateway_unavailable' })
  // What the model was refused is another matter.
  const refused = new Error('refused')
  expect(paused.callerError(refused)).toBe(refused)
  const stopping = unavailable()
  runs.haltAll(stopping)
  expect(running.callerError(running.haltSignal.reason)).toBe(stopping)
  paused.finish()
  running.finish()
})

test('close waits for running messages', async () => {
  const runs = open(async (turns) => new Set(turns.map(({ runId }) => runId)))
  const run = runs.begin(turn('a'), neverAborted)
  let isClosed = false
  const closing = runs[Symbol.asyncDispose]().then(() => {
    isClosed = true
  })
  await settled()
  expect(isClosed).toBe(false)
  run.finish()
  await closing
})
