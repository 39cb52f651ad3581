import { expect, test } from 'bun:test'
import { array, assert, integer, option, property } from '../../testing/property'
import { portionsOf } from './portions'
import type { Charge } from './usage-record'

const free: Charge = {
  id: '',
  startedAt: '2026-01-01T00:00:00.000Z',
  accountId: null,
  leaseId: null,
  cost: 0n,
  fromLease: 0n,
  payeeId: null,
  feeMillionths: 0,
  isOrphan: false,
}

const batches = array(option(integer({ min: 0, max: 30 }).map((number) => `user_${number}`)), {
  maxLength: 200,
})

const most = integer({ min: 1, max: 10 })

test('each event of a batch is in one portion, those of an account together and in their order', () => {
  assert(
    property(batches, most, (accounts, mostAccounts) => {
      const batch = accounts.map((accountId, at) => ({
        charge: { ...free, id: String(at), accountId },
      }))
      const portions = portionsOf(batch, mostAccounts)
      expect(portions.flat().toSorted((a, b) => Number(a.charge.id) - Number(b.charge.id))).toEqual(
        batch,
      )
      const seen = new Set<string>()
      for (const portion of portions) {
        const own = new Set(portion.flatMap(({ charge }) => charge.accountId ?? []))
        expect(own.size).toBeLessThanOrEqual(mostAccounts)
        for (const id of own) {
          expect(seen.has(id)).toBe(false)
          seen.add(id)
          const numbers = portion
            .filter(({ charge }) => charge.accountId === id)
            .map(({ charge }) => Number(charge.id))
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        }
      }
    }),
  )
})

test('no more portions are made than accounts ask for', () => {
  const batch = ['a', 'b', 'a', null, 'c', 'b'].map((accountId) => ({
    charge: { ...free, accountId },
  }))
  expect(portionsOf(batch, 2).map((portion) => portion.length)).toEqual([5, 1])
  expect(portionsOf([], 2)).toEqual([])
})
