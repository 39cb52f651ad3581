import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { Allowance } from './allowance'
import { Refused, type Need } from '../ledger/need'
import { Hold, Slice } from '../ledger/slice'

/** 4 USD for a million tokens, in millionths of a nano-dollar. */
const rate = 4_000_000_000n
const price = 4000n

/** A slice with so many tokens' credit, and what holds are asked of it. */
function sliceOf(tokens: number) {
  const slice = new Slice('lease_1', 0)
  slice.amount = BigInt(tokens) * price
  const newHold = (amount: bigint) => new Hold(slice, amount, () => undefined)
  const more = ({ full, floor }: Need) => {
    if (slice.free < floor) throw new Refused(slice.free, floor)
    return newHold(slice.free < full ? slice.free : full)
  }
  return { slice, newHold, more }
}

interface Setting {
  credit: number
  held: number
  most?: number
}

function allowanceOf({ credit, held, most = Infinity }: Setting) {
  const { slice, newHold, more } = sliceOf(credit)
  const hold = newHold(BigInt(held) * price)
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const options = { hold, tokens: held, most, rate, more, onError }
  return { slice, hold, errors, newHold, options, allowance: new Allowance(options) }
}

describe('M02: an allowance', () => {
  test('grows in steps, by what the hold takes over', () => {
    const { allowance, hold } = allowanceOf({ credit: 10_000, held: 100 })
    expect(allowance.extend()).toBe(true)
    expect([allowance.tokens, hold.amount]).toEqual([612, 612n * price])
    while (allowance.tokens < 4000) expect(allowance.extend()).toBe(true)
    const before = allowance.tokens
    expect(allowance.extend()).toBe(true)
    // A quarter each time: a long answer asks a few times.
    expect(allowance.tokens).toBe(before + (before >> 2))
  })

  test('never pays for more than is held, nor holds more than there is', () => {
    const setting = fc.record({
      credit: fc.integer({ min: 0, max: 50_000 }),
      held: fc.nat(2000),
      most: fc.option(fc.integer({ min: 2000, max: 60_000 }), { nil: Infinity }),
    })
    const property = fc.property(setting, ({ credit, held, most }) => {
      const all = allowanceOf({ credit: credit + held, held, most })
      let steps = 0
      while (all.allowance.extend() === true) steps++
      const { tokens } = all.allowance
      expect(tokens).toBeLessThanOrEqual(Math.min(most, credit + held))
      expect(tokens).toBeGreaterThan(Math.min(most, credit + held) - 16)
      expect(all.hold.amount).toBe(BigInt(tokens) * price)
      expect(all.slice.held).toBe(all.hold.amount)
      expect(all.allowance.gained).toBe(tokens - held)
      expect(steps).toBeLessThan(40)
    })
    fc.assert(property, { numRuns: 2000 })
  })

  test('that comes when the request has ended gives back what it took', async () => {
    const { hold, slice, options, newHold } = allowanceOf({ credit: 10_000, held: 100 })
    const { promise, resolve } = Promise.withResolvers<Hold>()
    const allowance = new Allowance({ ...options, more: () => promise })
    const extending = allowance.extend()
    // One that is asked for is not asked for again.
    expect(allowance.extend()).toBe(false)
    hold.settle(0n)
    resolve(newHold(512n * price))
    expect(await extending).toBe(false)
    expect([slice.held, slice.free, allowance.gained]).toEqual([0n, 10_000n * price, 0])
  })

  test('out of another lease is none, and goes back', () => {
    const { options } = allowanceOf({ credit: 100, held: 100 })
    const other = sliceOf(10_000)
    const allowance = new Allowance({ ...options, more: other.more })
    expect(allowance.extend()).toBe(false)
    expect([other.slice.held, allowance.gained]).toEqual([0n, 0])
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('no database'))],
    [
      'throws',
      () => {
        throw new Error('no database')
      },
    ],
  ])('is none where the ledger %s, and says so', async (_how, more) => {
    const { options, errors } = allowanceOf({ credit: 100, held: 100 })
    const allowance = new Allowance({ ...options, more })
    expect(await allowance.extend()).toBe(false)
    expect(errors).toHaveLength(1)
  })
})
