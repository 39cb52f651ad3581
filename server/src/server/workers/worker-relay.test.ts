import { expect, test } from 'bun:test'
import type { FromLauncher, FromWorker } from './messages'
import { WorkerRelay } from './worker-relay'

/** A relay with two workers; their messages, and what they received. */
function createRelay() {
  const clock = { nowMs: 0 }
  const relay = new WorkerRelay(() => clock.nowMs)
  const received: FromLauncher[][] = [[], []]
  const sends = received.map((list) => (message: FromLauncher) => list.push(message) > 0)
  const say = (worker: 0 | 1, message: FromWorker) => {
    const [first, second] = sends
    const send = worker === 0 ? first : second
    if (send) relay.onMessage(message, send)
    return received[worker]?.at(-1)
  }
  say(0, { kind: 'node', node: 'a' })
  say(1, { kind: 'node', node: 'b' })
  return { clock, relay, received, sends, say }
}

test('a message reaches the worker that it is for, and its sender learns so', () => {
  const { say, received } = createRelay()
  const reply = say(0, { kind: 'publish', id: 7, node: 'b', text: 'hello' })
  expect(reply).toEqual({ kind: 'reply', id: 7, value: true })
  expect(received[1]).toEqual([{ kind: 'message', text: 'hello' }])
  expect(say(0, { kind: 'publish', id: 8, node: 'c', text: '' })).toMatchObject({ value: false })
})

test('a worker that has ended receives nothing, and its sender learns so', () => {
  const { say, relay, sends } = createRelay()
  if (sends[1]) relay.onEnd(sends[1])
  expect(say(0, { kind: 'publish', id: 1, node: 'b', text: '' })).toMatchObject({ value: false })
})

test('a stored text is taken once, by either worker, within half a minute', () => {
  const { say, clock } = createRelay()
  const put = (key: string, text: string) => say(0, { kind: 'put', id: 1, key, text })
  const take = (key: string) => say(1, { kind: 'take', id: 2, key })
  expect(put('one', 'text')).toMatchObject({ value: true })
  expect(take('one')).toMatchObject({ value: 'text' })
  expect(take('one')).toMatchObject({ value: undefined })
  put('two', 'text')
  say(0, { kind: 'drop', key: 'two' })
  expect(take('two')).toMatchObject({ value: undefined })
  put('three', 'text')
  clock.nowMs += 30_000
  expect(take('three')).toMatchObject({ value: undefined })
})

test('at most 64 MB are stored; expired answers make room', () => {
  const { say, clock } = createRelay()
  const half = 'x'.repeat(32 * 1024 * 1024)
  const put = (key: string) => say(0, { kind: 'put', id: 1, key, text: half })
  expect([put('a'), put('b')]).toMatchObject([{ value: true }, { value: true }])
  expect(put('c')).toMatchObject({ value: false })
  // The same key again replaces its text.
  expect(put('b')).toMatchObject({ value: true })
  clock.nowMs += 30_000
  expect(put('c')).toMatchObject({ value: true })
})
