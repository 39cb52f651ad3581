import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { Allowance } from './allowance'
import { InsufficientCredit, type CreditDemand } from '../ledger/credit-demand'
import { Hold, LocalLease } from '../ledger/local-lease'

/** 4 USD for a million tokens, in millionths of a nano-dollar. */
const rate = 4_000_000_000n
const price = 4000n

/** Creates a lease with credit for so many tokens, and the functions that take holds from it. */
function createLease(tokens: number) {
  const lease = new LocalLease('lease_1', 0)
  lease.amount = BigInt(tokens) * price
  const newHold = (amount: bigint) => new Hold(lease, amount, () => undefined)
  const extendHold = ({ full, floor }: CreditDemand) => {
    if (lease.free < floor) throw new InsufficientCredit(lease.free, floor)
    return newHold(lease.free < full ? lease.free : full)
  }
  return { lease, newHold, extendHold }
}

interface Setting {
  credit: number
  held: number
  maxTokens?: number
}

function allowanceOf({ credit, held, maxTokens = Infinity }: Setting) {
  const { lease, newHold, extendHold } = createLease(credit)
  const hold = newHold(BigInt(held) * price)
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const options = { hold, tokens: held, maxTokens, rate, extendHold, onError }
  return { lease, hold, errors, newHold, options, allowance: new Allowance(options) }
}

describe('M02: an allowance', () => {
  test('grows in steps, by the amount that the hold absorbs', () => {
    const { allowance, hold } = allowanceOf({ credit: 10_000, held: 100 })
    expect(allowance.extend()).toBe(true)
    expect([allowance.tokens, hold.amount]).toEqual([612, 612n * price])
    while (allowance.tokens < 4000) expect(allowance.extend()).toBe(true)
    const before = allowance.tokens
    expect(allowance.extend()).toBe(true)
    // By a quarter each time, so that a long answer is extended a few times only.
    expect(allowance.tokens).toBe(before + (before >> 2))
  })

  test('never pays for more than its hold, and never holds more than the credit', () => {
    const setting = fc.record({
      credit: fc.integer({ min: 0, max: 50_000 }),
      held: fc.nat(2000),
      maxTokens: fc.option(fc.integer({ min: 2000, max: 60_000 }), { nil: Infinity }),
    })
    const property = fc.property(setting, ({ credit, held, maxTokens }) => {
      const all = allowanceOf({ credit: credit + held, held, maxTokens })
      let steps = 0
      while (all.allowance.extend() === true) steps++
      const { tokens } = all.allowance
      expect(tokens).toBeLessThanOrEqual(Math.min(maxTokens, credit + held))
      expect(tokens).toBeGreaterThan(Math.min(maxTokens, credit + held) - 16)
      expect(all.hold.amount).toBe(BigInt(tokens) * price)
      expect(all.lease.heldAmount).toBe(all.hold.amount)
      expect(all.allowance.gainedTokens).toBe(tokens - held)
      expect(steps).toBeLessThan(40)
    })
    fc.assert(property, { numRuns: 2000 })
  })

  test('returns an extension that arrives after the end of the request', async () => {
    const { hold, lease, options, newHold } = allowanceOf({ credit: 10_000, held: 100 })
    const { promise, resolve } = Promise.withResolvers<Hold>()
    const allowance = new Allowance({ ...options, extendHold: () => promise })
    const extending = allowance.extend()
    // Only one extension runs at a time.
    expect(allowance.extend()).toBe(false)
    hold.settle(0n)
    resolve(newHold(512n * price))
    expect(await extending).toBe(false)
    expect([lease.heldAmount, lease.free, allowance.gainedTokens]).toEqual([0n, 10_000n * price, 0])
  })

  test('refuses and returns an extension out of another lease', () => {
    const { options } = allowanceOf({ credit: 100, held: 100 })
    const other = createLease(10_000)
    const allowance = new Allowance({ ...options, extendHold: other.extendHold })
    expect(allowance.extend()).toBe(false)
    expect([other.lease.heldAmount, allowance.gainedTokens]).toEqual([0n, 0])
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('no database'))],
    [
      'throws',
      () => {
        throw new Error('no database')
      },
    ],
  ])('is not extended where the ledger %s, and reports the error', async (_how, extendHold) => {
    const { options, errors } = allowanceOf({ credit: 100, held: 100 })
    const allowance = new Allowance({ ...options, extendHold })
    expect(await allowance.extend()).toBe(false)
    expect(errors).toHaveLength(1)
  })
})
