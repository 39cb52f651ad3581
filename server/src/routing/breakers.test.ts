import { beforeEach, expect, test } from 'bun:test'
import { Breakers, type Change } from './breakers'
import { sampleCandidate } from './candidate-for-tests'
import { sampleConnection, sampleModel } from '../catalog/samples'

const candidateOf = (connection: string, model = 'fake/one', owner: string | null = null) =>
  sampleCandidate({
    connection: sampleConnection({ id: connection, owner }),
    model: sampleModel({ id: model }),
  })
const one = candidateOf('conn_1')

let nowMs = 0
let changes: Change[] = []
let breakers: Breakers

beforeEach(() => {
  nowMs = 1000
  changes = []
  breakers = new Breakers({
    now: () => nowMs,
    longestMs: 30_000,
    onChange: (change) => void changes.push(change),
  })
})

const fail = (times = 1, candidate = one, busyMs = 0) => {
  for (let k = 0; k < times; k++) breakers.failed(candidate, breakers.enter(candidate), busyMs)
}
const succeed = (times = 1, candidate = one) => {
  for (let k = 0; k < times; k++) breakers.succeeded(candidate, breakers.enter(candidate))
}

test('what works leaves nothing behind', () => {
  succeed(1000)
  expect([breakers.size, breakers.waitMs(one)]).toEqual([0, 0])
})

test('five failures in a row open it, however far apart', () => {
  fail(4)
  nowMs += 3_600_000
  expect(breakers.waitMs(one)).toBe(0)
  fail()
  expect(breakers.waitMs(one)).toBe(5000)
  expect(changes).toEqual([{ candidate: one, isOpen: true, openMs: 5000 }])
})

test('a success between them is a new start', () => {
  fail(4)
  succeed()
  fail(4)
  expect(breakers.waitMs(one)).toBe(0)
})

test('half of many failing opens it, less than half does not', () => {
  for (let k = 0; k < 40; k++) {
    fail()
    succeed(2)
  }
  expect(breakers.waitMs(one)).toBe(0)
  for (let k = 0; k < 60; k++) fail(1 + (k % 4))
  expect(breakers.waitMs(one)).toBeGreaterThan(0)
})

test('failures of an earlier window are forgotten', () => {
  for (let k = 0; k < 9; k++) {
    fail()
    succeed()
  }
  nowMs += 10_001
  succeed()
  expect(breakers.size).toBe(0)
  fail()
  expect(breakers.waitMs(one)).toBe(0)
})

test('when its time is over one attempt goes through, and the others wait for it', () => {
  fail(5)
  nowMs += 5000
  expect(breakers.waitMs(one)).toBe(0)
  const since = breakers.enter(one)
  expect(breakers.waitMs(one)).toBeGreaterThan(0)
  breakers.succeeded(one, since)
  expect([breakers.waitMs(one), breakers.size]).toEqual([0, 0])
  expect(changes.map(({ isOpen }) => isOpen)).toEqual([true, false])
})

test('an attempt that fails then opens it for twice as long, at most for the longest', () => {
  fail(5)
  const waits = Array.from({ length: 5 }, () => {
    const wait = breakers.waitMs(one)
    nowMs += wait
    fail()
    return wait
  })
  expect(waits).toEqual([5000, 10_000, 20_000, 30_000, 30_000])
})

test('an attempt that shows nothing makes room for the next', () => {
  fail(5)
  nowMs += 5000
  breakers.left(one, breakers.enter(one))
  expect(breakers.waitMs(one)).toBe(0)
})

test('one that never ends keeps the others waiting for a while only', () => {
  fail(5)
  nowMs += 5000
  breakers.enter(one)
  nowMs += 10_000
  expect(breakers.waitMs(one)).toBe(0)
})

test('what began before it opened neither closes it nor keeps it open', () => {
  const early = breakers.enter(one)
  nowMs += 1
  fail(5)
  breakers.succeeded(one, early)
  expect(breakers.waitMs(one)).toBe(5000)
  nowMs += 5000
  breakers.failed(one, early)
  expect(breakers.waitMs(one)).toBe(0)
})

test('who says how long it is busy is passed over for that long, at most for the longest', () => {
  fail(1, one, 2000)
  expect(breakers.waitMs(one)).toBe(2000)
  fail(1, candidateOf('conn_2'), 3_600_000)
  expect(breakers.waitMs(candidateOf('conn_2'))).toBe(30_000)
})

test('U13: one customer’s credential opens nobody else’s, nor another model’s', () => {
  const theirs = candidateOf('conn_theirs', 'fake/one', 'user_1')
  fail(100, theirs)
  expect(breakers.waitMs(theirs)).toBeGreaterThan(0)
  const others = [
    one,
    candidateOf('conn_other', 'fake/one', 'user_2'),
    candidateOf('conn_theirs', 'fake/two', 'user_1'),
  ]
  expect(others.map((other) => breakers.waitMs(other))).toEqual([0, 0, 0])
})

test('no number of customers takes more than a bounded memory', () => {
  const bounded = new Breakers({
    now: () => nowMs,
    longestMs: 30_000,
    onChange: () => undefined,
    most: 10,
  })
  for (let k = 0; k < 1000; k++) bounded.failed(candidateOf(`conn_${k}`), nowMs)
  expect(bounded.size).toBe(10)
})

test('with no time at all nothing is ever passed over or remembered', () => {
  breakers = new Breakers({ now: () => nowMs, longestMs: 0, onChange: () => expect().fail() })
  fail(100)
  fail(1, one, 7000)
  expect([breakers.size, breakers.waitMs(one)]).toEqual([0, 0])
})
