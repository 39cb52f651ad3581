import { describe, expect, test } from 'bun:test'
import { BackgroundReaders } from './background-readers'
import { EventLog, framesAfter, lastNumberIn } from './background-events'
import { backgroundReply } from './background-stream'
import { namedFrame } from '../wire/sse'
import { settled } from '../../testing/clock'

const frame = (number: number, text = 'a') =>
  namedFrame({ type: 'response.output_text.delta', sequence_number: number, delta: text })
const owned = { id: 'resp_1', userId: 'user_1' }

describe('events', () => {
  const text = frame(0) + frame(1, '"sequence_number":9\n\ndata: {') + frame(2)

  test('are distinguished by their numbers alone', () => {
    expect(framesAfter(text, -1).join('')).toBe(text)
    expect(framesAfter(text, 1)).toEqual([frame(2)])
    expect(framesAfter(text, 2)).toEqual([])
    expect(lastNumberIn(text)).toBe(2)
  })

  test('are written with the next ones if the database rejected them', async () => {
    const written: [string, number][] = []
    let isAway = true
    const received: unknown[] = []
    const store = {
      addEvents: (_owned: unknown, frames: string, number: number) => {
        if (isAway) return Promise.reject(new Error('away'))
        written.push([frames, number])
        return Promise.resolve(true)
      },
    }
    const log = new EventLog(store, owned, (error) => received.push(error))
    log.add(frame(0).padEnd(70_000, '\n'))
    await settled()
    isAway = false
    await log.end(frame(1))
    expect(received).toHaveLength(1)
    expect(written.map(([frames, number]) => [framesAfter(frames, -1).length, number])).toEqual([
      [2, 1],
    ])
  })

  test('finding S22: end with the last ones if the account has no room for them', async () => {
    const offered: number[] = []
    const store = {
      addEvents: (_owned: unknown, _frames: string, number: number) => {
        offered.push(number)
        return Promise.resolve(false)
      },
    }
    const log = new EventLog(store, owned, () => undefined)
    log.add(frame(0).padEnd(70_000, '\n'))
    await settled()
    log.add(frame(1).padEnd(70_000, '\n'))
    await log.end(frame(2))
    expect(offered).toEqual([0, 2])
  })

  test('finding S21: are numbered in any order of their fields, without being parsed in the usual order', () => {
    const usual = 'event: a\ndata: {"type":"a.b","sequence_number":7,"rest":not even JSON}\n\n'
    const other = 'event: a\ndata: {"sequence_number":8,"type":"a.b"}\n\n'
    const none = 'event: a\ndata: {"type":"a.b","sequence_number":"9"}\n\n'
    expect([usual, other, none, ': ping\n\n', ''].map(lastNumberIn)).toEqual([7, 8, -1, -1, -1])
    expect(framesAfter(usual + other, 7)).toEqual([other])
  })

  test('are read once if they were written twice', async () => {
    const batches = [frame(0) + frame(1), frame(0) + frame(1) + frame(2)]
    const events = {
      eventsAfter: (_owned: unknown, after: number) =>
        Promise.resolve({
          frames: batches.filter((batch) => lastNumberIn(batch) > after),
          isRunning: false,
        }),
    }
    const { stream } = await backgroundReply(events, { owned, after: -1 }).opening
    expect(await stream.read()).toEqual([frame(0), frame(1), frame(2)])
    expect(await stream.read()).toBeUndefined()
    expect(stream.isEnded).toBeTrue()
  })
})

test('an account reads twenty streams at a time, and one more for each that it left', () => {
  const readers = new BackgroundReaders()
  const releases = Array.from({ length: 20 }, () => readers.admit('user_1'))
  expect(() => readers.admit('user_1')).toThrow('20 streams')
  readers.admit('user_2')
  const [first] = releases
  first?.()
  first?.()
  readers.admit('user_1')
  expect(() => readers.admit('user_1')).toThrow('20 streams')
})
