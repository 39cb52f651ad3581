import { expect, test } from 'bun:test'
import { PieceMemory } from './piece-memory'
import { settled } from '../../testing/clock'

const mebibyte = 1 << 20

/** Forms that ask for their turn, and the indexes of those that have it. */
function startForms(count: number) {
  const memory = new PieceMemory()
  const begun: number[] = []
  const forms = Array.from({ length: count }, (_, index) => {
    const turns = memory.open()
    const waiting = turns.begin()
    if (waiting) void waiting.then(() => begun.push(index))
    else begun.push(index)
    return turns
  })
  return { forms, begun }
}

test('forms beyond the memory wait, and the next one begins as a piece is on disk', async () => {
  const { forms, begun } = startForms(6)
  await settled()
  expect(begun).toEqual([0, 1, 2, 3])
  forms[2]?.hold(0)
  await settled()
  expect(begun).toEqual([0, 1, 2, 3, 4])
})

test('a small piece leaves room for another form', async () => {
  const { forms, begun } = startForms(6)
  forms[0]?.hold(mebibyte / 4)
  await settled()
  expect(begun).toEqual([0, 1, 2, 3, 4])
})

test('a silent sender takes no room from others', async () => {
  const { forms, begun } = startForms(5)
  const { promise, resolve } = Promise.withResolvers<void>()
  const reading = forms[0]?.whileReading(promise)
  await settled()
  expect(begun).toEqual([0, 1, 2, 3, 4])
  resolve()
  await reading
})

test('a form that ends while it waits gives its turn to the next', async () => {
  const { forms, begun } = startForms(6)
  forms[4]?.[Symbol.dispose]()
  forms[0]?.[Symbol.dispose]()
  await settled()
  expect(begun).toEqual([0, 1, 2, 3, 4, 5])
})
