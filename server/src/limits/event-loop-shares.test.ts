import { expect, test } from 'bun:test'
import { EventLoopShares, EventLoopShareExceeded } from './event-loop-shares'

/** Shares on a clock of their own; `waits` returns how long an owner waits after work. */
function opened(options: { share?: number } = {}) {
  const clock = { ms: 0 }
  const shares = new EventLoopShares({ now: () => clock.ms, share: 0.25, ...options })
  const pass = (ms: number) => {
    clock.ms += ms
    for (let tick = 0; tick < ms / 250; tick++) shares.tick()
  }
  const waits = (owner: string, ms: number, kind: 'useful' | 'idle' = 'useful') =>
    shares.shareOf(owner).charge(ms, kind)
  return { shares, clock, pass, waits }
}

/** The part of the time that an owner works who always has more to do, in pieces of so many milliseconds. */
function partOf(
  { clock, waits, pass, shares }: ReturnType<typeof opened>,
  pieceMs: number,
): number {
  const from = clock.ms
  let worked = 0
  while (clock.ms - from < 20_000) {
    shares.touch('other')
    worked += pieceMs
    pass(pieceMs)
    pass(Math.max(0, waits('loud', pieceMs)))
  }
  return worked / (clock.ms - from)
}

test('S2: an owner alone never waits', () => {
  const { shares, waits } = opened()
  shares.touch('loud')
  for (let count = 0; count < 1000; count++) expect(waits('loud', 10)).toBe(0)
})

test('S2: while another is active, an owner has a quarter of the time, in any slices', () => {
  for (const pieceMs of [0.1, 1, 5]) {
    const part = partOf(opened(), pieceMs)
    expect(part).toBeWithin(0.24, 0.26)
  }
})

test('S2: the operator sets the share', () => {
  expect(partOf(opened({ share: 0.5 }), 1)).toBeWithin(0.49, 0.51)
  expect(partOf(opened({ share: 1 }), 1)).toBe(1)
})

test('S2: an owner is alone again a second after the last request of another', () => {
  const { shares, pass, waits } = opened()
  shares.touch('other')
  shares.touch('loud')
  expect(waits('loud', 100)).toBeGreaterThan(300)
  pass(1000)
  shares.touch('loud')
  expect(waits('loud', 100)).toBe(0)
})

test('S2: work for disconnected clients has a twentieth of the time, also of an owner alone', () => {
  const { shares, waits } = opened()
  shares.touch('loud')
  expect(waits('loud', 100, 'idle')).toBe(2000 - 500)
  expect(waits('loud', 100, 'idle')).toBe(4000 - 500)
})

test('S2: work of one owner never delays another', () => {
  const { shares, waits } = opened()
  shares.touch('loud')
  waits('loud', 500, 'idle')
  shares.touch('other')
  expect(waits('other', 1)).toBeLessThanOrEqual(0)
})

test('S2: pieces of work that run side by side wait one after the other', () => {
  const { shares, waits } = opened()
  shares.touch('other')
  shares.touch('loud')
  const all = Array.from({ length: 100 }, () => waits('loud', 1))
  expect(all.at(-1)).toBe(400 - 40)
  expect(new Set(all).size).toBe(100)
})

test('S3: work that counts before it is due delays other work of its owner, not its own', async () => {
  const { shares, waits } = opened()
  shares.touch('other')
  shares.touch('loud')
  const share = shares.shareOf('loud')
  share.note(100, 'useful')
  expect(share.charge(1, 'useful', 100)).toBeLessThanOrEqual(0)
  expect(waits('loud', 1)).toBe(408 - 40)
  share.note(6000, 'useful')
  expect(share.charge(1, 'useful', 6100)).toBeLessThan(Infinity)
})

test('S2: beyond a bound there is an error in place of a wait, and the bound does not move', () => {
  const { shares, pass, waits } = opened()
  shares.touch('loud')
  const flood = () => {
    for (let count = 0; count < 10_000; count++) void shares.shareOf('loud').spend(1, 'idle')
  }
  expect(flood).toThrow(EventLoopShareExceeded)
  expect(flood).toThrow(EventLoopShareExceeded)
  pass(20_000)
  expect(waits('loud', 1, 'idle')).toBeLessThanOrEqual(20)
})
