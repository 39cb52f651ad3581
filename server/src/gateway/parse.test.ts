import { expect, test } from 'bun:test'
import { withHistory } from './parse'

const read = { body: { input: 'And now?' }, bytes: 20 }
const noPause = (_ms: number) => Promise.resolve()
const whole = { body: { input: ['Hello.', 'And now?'] }, bytes: 3_000_020 }

test('a history is read with reserved memory, once that is free', async () => {
  const taken: number[] = []
  const call = (bytes: number) => ({
    history: { unreadBytes: () => bytes, expand: () => whole },
    readMore: async <Read>(more: number, reading: (pause: typeof noPause) => Promise<Read>) => {
      taken.push(more)
      return reading(noPause)
    },
  })
  expect(await withHistory(call(3_000_000), 'usr_1', read)).toBe(whole)
  expect(taken).toEqual([3_000_000])
  expect(await withHistory(call(0), 'usr_1', read)).toBe(whole)
  expect(taken).toHaveLength(1)
  expect(await withHistory({}, 'usr_1', read)).toBe(read)
})
