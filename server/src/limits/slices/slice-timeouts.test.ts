import { expect, test } from 'bun:test'
import { sliceTimeoutsFor } from './slice-timeouts'

test('requests wait no longer for a store that is near, however busy the machine', () => {
  expect(sliceTimeoutsFor(1.9)).toEqual(sliceTimeoutsFor(0))
  expect(sliceTimeoutsFor(0).shareMs).toBe(50)
})

test('the timeout is some round trips longer for a distant store, and no longer for an overloaded one', () => {
  expect(sliceTimeoutsFor(82).exchangeMs).toBe(80 + 20 * 80)
  expect(sliceTimeoutsFor(82).recallMs).toBe(500 + 40 * 80)
  expect(sliceTimeoutsFor(10_000)).toEqual(sliceTimeoutsFor(150))
})
