import { expect, test } from 'bun:test'
import { patienceFor } from './patience'

test('requests wait no longer for a store that is near, however busy the machine', () => {
  expect(patienceFor(1.9)).toEqual(patienceFor(0))
  expect(patienceFor(0).shareMs).toBe(50)
})

test('they wait some round trips longer for a distant one, and no longer for one that is overloaded', () => {
  expect(patienceFor(82).exchangeMs).toBe(80 + 20 * 80)
  expect(patienceFor(82).recallMs).toBe(500 + 40 * 80)
  expect(patienceFor(10_000)).toEqual(patienceFor(150))
})
