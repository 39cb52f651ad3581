import { expect, test } from 'bun:test'
import { FormTurns } from './form-turns'
import { settled, TestClock } from '../../testing/clock'

/** Forms that ask for their turn, in this order of owners, and the indexes of those that have had it. */
function startForms(owners: readonly string[]) {
  const clock = new TestClock()
  const turns = new FormTurns({ maxForms: 2, clock })
  const begun: number[] = []
  const forms = owners.map((owner, index) => {
    const turn = turns.open(owner)
    const waiting = turn.begin()
    if (waiting) void waiting.then(() => begun.push(index))
    else begun.push(index)
    return turn
  })
  return { clock, forms, begun }
}

const piece = (bytes: number) => Promise.resolve({ value: new Uint8Array(bytes) })

test('forms beyond the maximum wait, and the next one begins as one ends', async () => {
  const { forms, begun } = startForms(['a', 'a', 'a', 'a'])
  await settled()
  expect(begun).toEqual([0, 1])
  forms[1]?.[Symbol.dispose]()
  await settled()
  expect(begun).toEqual([0, 1, 2])
})

test('a form keeps its turn from piece to piece', async () => {
  const { clock, forms, begun } = startForms(['a', 'a', 'a'])
  await forms[0]?.whileReading(piece(2 << 20))
  await clock.advance(500)
  expect(forms[0]?.begin()).toBeUndefined()
  expect(begun).toEqual([0, 1])
})

test('owners alternate', async () => {
  const { forms, begun } = startForms(['a', 'a', 'a', 'a', 'b'])
  forms[0]?.[Symbol.dispose]()
  forms[1]?.[Symbol.dispose]()
  await settled()
  expect(begun).toEqual([0, 1, 2, 4])
})

test('a silent sender loses its turn, and waits for another one when it sends again', async () => {
  const { clock, forms, begun } = startForms(['a', 'a', 'a'])
  const { promise, resolve } = Promise.withResolvers<{ value: Uint8Array }>()
  const reading = forms[0]?.whileReading(promise)
  await clock.advance(19)
  expect(begun).toEqual([0, 1])
  await clock.advance(2)
  await settled()
  expect(begun).toEqual([0, 1, 2])
  resolve({ value: new Uint8Array(1) })
  await reading
  expect(forms[0]?.begin()).toBeInstanceOf(Promise)
})

test('a slow sender loses its turn to those who wait', async () => {
  const { clock, forms, begun } = startForms(['a', 'a', 'b'])
  await forms[0]?.whileReading(piece(1000))
  await clock.advance(260)
  expect(forms[0]?.begin()).toBeInstanceOf(Promise)
  await settled()
  expect(begun).toEqual([0, 1, 2])
})

test('a very large form is interrupted for those who wait', async () => {
  const { forms, begun } = startForms(['a', 'a', 'b'])
  await forms[0]?.whileReading(piece(32 << 20))
  expect(forms[0]?.begin()).toBeInstanceOf(Promise)
  await settled()
  expect(begun).toEqual([0, 1, 2])
})

test('a form that ends while it waits gives its turn to the next', async () => {
  const { forms, begun } = startForms(['a', 'a', 'a', 'a'])
  forms[2]?.[Symbol.dispose]()
  forms[0]?.[Symbol.dispose]()
  await settled()
  expect(begun).toEqual([0, 1, 2, 3])
})
