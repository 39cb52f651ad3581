import { expect, test } from 'bun:test'
import { OwnerBudget, OwnerBudgetExceeded } from './owner-budget'

/** A budget on a clock of its own; `waits` tells what work costs its owner. */
function opened(options: { share?: number } = {}) {
  const clock = { ms: 0 }
  const budget = new OwnerBudget({ now: () => clock.ms, share: 0.25, ...options })
  const pass = (ms: number) => {
    clock.ms += ms
    for (let tick = 0; tick < ms / 250; tick++) budget.tick()
  }
  const waits = (owner: string, ms: number, kind: 'useful' | 'idle' = 'useful') =>
    budget.charge(budget.shareOf(owner), ms, kind)
  return { budget, clock, pass, waits }
}

/** The part of the time that an owner works who always has more to do, in pieces of so many milliseconds. */
function partOf(
  { clock, waits, pass, budget }: ReturnType<typeof opened>,
  pieceMs: number,
): number {
  const from = clock.ms
  let worked = 0
  while (clock.ms - from < 20_000) {
    budget.touch('other')
    worked += pieceMs
    pass(pieceMs)
    pass(Math.max(0, waits('loud', pieceMs)))
  }
  return worked / (clock.ms - from)
}

test('S2: an owner alone never waits for what it asked for', () => {
  const { budget, waits } = opened()
  budget.touch('loud')
  for (let count = 0; count < 1000; count++) expect(waits('loud', 10)).toBe(0)
})

test('S2: while another is active, an owner has a quarter of the time, however it cuts its work', () => {
  for (const pieceMs of [0.1, 1, 5]) {
    const part = partOf(opened(), pieceMs)
    expect(part).toBeWithin(0.24, 0.26)
  }
})

test('S2: the part is the operator’s', () => {
  expect(partOf(opened({ share: 0.5 }), 1)).toBeWithin(0.49, 0.51)
  expect(partOf(opened({ share: 1 }), 1)).toBe(1)
})

test('S2: an owner is alone again a second after the last request of another', () => {
  const { budget, pass, waits } = opened()
  budget.touch('other')
  budget.touch('loud')
  expect(waits('loud', 100)).toBeGreaterThan(300)
  pass(1000)
  budget.touch('loud')
  expect(waits('loud', 100)).toBe(0)
})

test('S2: work that serves nobody has a twentieth of the time, also of an owner alone', () => {
  const { budget, waits } = opened()
  budget.touch('loud')
  expect(waits('loud', 100, 'idle')).toBe(2000 - 500)
  expect(waits('loud', 100, 'idle')).toBe(4000 - 500)
})

test('S2: what one owner did makes no other wait', () => {
  const { budget, waits } = opened()
  budget.touch('loud')
  waits('loud', 500, 'idle')
  budget.touch('other')
  expect(waits('other', 1)).toBeLessThanOrEqual(0)
})

test('S2: pieces of work that run side by side wait one after the other', () => {
  const { budget, waits } = opened()
  budget.touch('other')
  budget.touch('loud')
  const all = Array.from({ length: 100 }, () => waits('loud', 1))
  expect(all.at(-1)).toBe(400 - 40)
  expect(new Set(all).size).toBe(100)
})

test('S2: beyond a bound there is an error in place of a wait, and the bound does not move', () => {
  const { budget, pass, waits } = opened()
  budget.touch('loud')
  const flood = () => {
    for (let count = 0; count < 10_000; count++) void budget.shareOf('loud').spend(1, 'idle')
  }
  expect(flood).toThrow(OwnerBudgetExceeded)
  expect(flood).toThrow(OwnerBudgetExceeded)
  pass(20_000)
  expect(waits('loud', 1, 'idle')).toBeLessThanOrEqual(20)
})
