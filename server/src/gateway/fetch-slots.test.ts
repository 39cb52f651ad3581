import { expect, test } from 'bun:test'
import { FetchSlots } from './fetch-slots'

const patient = () => new AbortController().signal

/** Tells in which order places are given. */
function asking(places: FetchSlots) {
  const entered: string[] = []
  const ask = async (name: string, signal = patient()) => {
    const place = await places.acquire(name.slice(0, 1), signal)
    entered.push(name)
    return place
  }
  return { entered, ask }
}

/** All that can go on without a timer has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('waits for a free place, in order', async () => {
  const { entered, ask } = asking(new FetchSlots({ max: 2, maxPerOwner: 2 }))
  const first = await ask('a1')
  await ask('b1')
  const waiting = [ask('c1'), ask('d1')]
  await settled()
  expect(entered).toEqual(['a1', 'b1'])
  first[Symbol.dispose]()
  const third = await waiting[0]
  expect(entered).toEqual(['a1', 'b1', 'c1'])
  third?.[Symbol.dispose]()
  await waiting[1]
  expect(entered).toEqual(['a1', 'b1', 'c1', 'd1'])
})

test('one owner’s many do not keep the others waiting', async () => {
  const { entered, ask } = asking(new FetchSlots({ max: 3, maxPerOwner: 1 }))
  const first = await ask('a1')
  const second = ask('a2')
  await ask('b1')
  expect(entered).toEqual(['a1', 'b1'])
  first[Symbol.dispose]()
  await second
  expect(entered).toEqual(['a1', 'b1', 'a2'])
})

test('skips a cancelled waiter', async () => {
  const { entered, ask } = asking(new FetchSlots({ max: 1, maxPerOwner: 1 }))
  const first = await ask('a1')
  const leaving = new AbortController()
  const left = ask('b1', leaving.signal).catch((error: unknown) => error)
  const next = ask('c1')
  const reason = new Error('gone')
  leaving.abort(reason)
  expect(await left).toBe(reason)
  expect(await ask('d1', leaving.signal).catch((error: unknown) => error)).toBe(reason)
  first[Symbol.dispose]()
  await next
  await settled()
  expect(entered).toEqual(['a1', 'c1'])
})
