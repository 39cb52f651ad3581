import { expect, test } from 'bun:test'
import { array, assert, integer, option, property } from '../../testing/property'
import { chunkByAccount } from './chunk-by-account'
import type { Charge } from './charge'

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
  usage: undefined,
}

const batches = array(option(integer({ min: 0, max: 30 }).map((number) => `user_${number}`)), {
  maxLength: 200,
})

const maxRows = integer({ min: 1, max: 10 })

test('puts each event into one chunk, each account’s together and in order', () => {
  assert(
    property(batches, maxRows, (accounts, maxAccounts) => {
      const batch = accounts.map((accountId, at) => ({
        charge: { ...free, id: String(at), accountId },
      }))
      const chunks = chunkByAccount(batch, maxAccounts)
      expect(chunks.flat().toSorted((a, b) => Number(a.charge.id) - Number(b.charge.id))).toEqual(
        batch,
      )
      const seen = new Set<string>()
      for (const chunk of chunks) {
        const own = new Set(chunk.flatMap(({ charge }) => charge.accountId ?? []))
        expect(own.size).toBeLessThanOrEqual(maxAccounts)
        for (const id of own) {
          expect(seen.has(id)).toBe(false)
          seen.add(id)
          const numbers = chunk
            .filter(({ charge }) => charge.accountId === id)
            .map(({ charge }) => Number(charge.id))
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        }
      }
    }),
  )
})

test('makes only as many chunks as the number of accounts requires', () => {
  const batch = ['a', 'b', 'a', null, 'c', 'b'].map((accountId) => ({
    charge: { ...free, accountId },
  }))
  expect(chunkByAccount(batch, 2).map((chunk) => chunk.length)).toEqual([5, 1])
  expect(chunkByAccount([], 2)).toEqual([])
})
