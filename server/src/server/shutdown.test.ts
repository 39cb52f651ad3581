import { expect, test } from 'bun:test'
import { stopOf } from './shutdown'
import { TestClock } from '../../testing/clock'

const nothing = () => Promise.resolve()

/** A server without requests, and what happened to it, in order. */
function createFixture({ unreadyMs, drainMs }: { unreadyMs: number; drainMs: number }) {
  const events: string[] = []
  const clock = new TestClock()
  const http = Bun.serve({ port: 0, fetch: () => new Response() })
  const stopping = http.stop.bind(http)
  http.stop = (...args) => {
    events.push('stop')
    return stopping(...args)
  }
  const state = { isStopping: false }
  const stop = stopOf({
    running: {
      http,
      claims: { idle: nothing },
      background: { idle: nothing },
      drains: { close: nothing },
      sockets: { shutdown: () => undefined, idle: nothing, close: () => undefined },
      endAll: () => void events.push('end'),
    },
    state,
    timers: { unreadyMs, drainMs },
    close: async () => void events.push('closed'),
    clock,
  })
  return { stop, state, events, clock }
}

test('a stop reports that it is not ready before it rejects connections', async () => {
  const { stop, state, events, clock } = createFixture({ unreadyMs: 200, drainMs: 1000 })
  const stopped = stop()
  expect(state.isStopping).toBe(true)
  await clock.advance(199)
  expect(events).toEqual([])
  await clock.advance(1)
  expect(events[0]).toBe('stop')
  await clock.run(stopped)
  expect([events[0], events.at(-1)]).toEqual(['stop', 'closed'])
})

test('in a hurry it rejects connections at once, also while it only reported that it is not ready', async () => {
  const { stop, events, clock } = createFixture({ unreadyMs: 60_000, drainMs: 60_000 })
  const stopped = stop()
  await clock.advance(20)
  expect(events).toEqual([])
  const hurried = stop({ drainMs: 10 })
  await clock.advance(0)
  expect(events[0]).toBe('stop')
  await clock.run(Promise.all([stopped, hurried]))
  expect([events[0], events.at(-1)]).toEqual(['stop', 'closed'])
})
