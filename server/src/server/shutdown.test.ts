import { expect, test } from 'bun:test'
import { stopOf } from './shutdown'

const nothing = () => Promise.resolve()

/** A server with a request that never ends by itself, and what happened to it, in order. */
function createFixture({ unreadyMs, drainMs }: { unreadyMs: number; drainMs: number }) {
  const events: string[] = []
  let firstStopAt = 0
  const http = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => undefined) })
  const stopping = http.stop.bind(http)
  http.stop = (...args) => {
    if (!events.includes('stop')) firstStopAt = performance.now()
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
  })
  return { stop, state, events, stoppedAt: () => firstStopAt }
}

test('a stop says that it is not ready before it takes nothing any more', async () => {
  const { stop, state, events, stoppedAt } = createFixture({ unreadyMs: 200, drainMs: 1000 })
  const startedAt = performance.now()
  const stopped = stop()
  expect(state.isStopping).toBe(true)
  await stopped
  expect([events[0], events.at(-1)]).toEqual(['stop', 'closed'])
  expect(stoppedAt() - startedAt).toBeGreaterThanOrEqual(199)
})

test('in a hurry it takes nothing from now on, also while it only said that it is not ready', async () => {
  const { stop, events } = createFixture({ unreadyMs: 60_000, drainMs: 60_000 })
  const stopped = stop()
  await Bun.sleep(20)
  const hurried = stop({ drainMs: 10 })
  await Promise.all([stopped, hurried])
  expect([events[0], events.at(-1)]).toEqual(['stop', 'closed'])
})
