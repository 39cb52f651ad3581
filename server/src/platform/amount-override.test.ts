import { expect, test } from 'bun:test'
import { assert, bigInt, integer, property, record } from '../../testing/property'
import { findAmountInForce } from './amount-override'

const amount = bigInt({ min: 0n, max: 20n })
const ms = integer({ min: 0, max: 40 })

test('an override replaces the amount from its first moment until its end, and no other moment', async () => {
  const example = record({ base: amount, amount, fromMs: ms, lastsMs: ms, atMs: ms })
  const isExact = property(example, ({ base, lastsMs, atMs, ...terms }) => {
    const override = { ...terms, untilMs: terms.fromMs + lastsMs + 1 }
    const isOn = (moment: number) => moment >= override.fromMs && moment < override.untilMs
    const amountAt = (moment: number) => (isOn(moment) ? override.amount : base)
    const inForce = findAmountInForce(base, override, atMs)
    expect(inForce.amount).toBe(amountAt(atMs))
    for (let moment = -1; moment < 90; moment++) {
      if (moment >= inForce.fromMs && moment < inForce.untilMs)
        expect(isOn(moment)).toBe(isOn(atMs))
    }
    const rises = Array.from({ length: 90 }, (_, moment) => moment).find(
      (moment) => moment > atMs && amountAt(moment) > inForce.amount,
    )
    expect(inForce.risesAtMs).toBe(rises ?? Infinity)
  })
  await assert(isExact, { numRuns: 2000 })
})
