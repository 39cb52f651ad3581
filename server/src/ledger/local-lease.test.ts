import { expect, test } from 'bun:test'
import { LocalLease } from './local-lease'

const requestedAt = { monotonicMs: 0, wallMs: 0 }

/** A lease of 100 of which 30 are held. */
function newLease(): LocalLease {
  const lease = new LocalLease('lease_1', 0)
  lease.adopt({ generation: 1, amount: 100n })
  lease.heldAmount = 30n
  return lease
}

test('finding M18: credit offered by a call without an answer is not used before the lease is fenced, also after a renewal', () => {
  const lease = newLease()
  expect(lease.offer()).toBe(70n)
  expect(lease.free).toBe(0n)
  lease.loseOffered()
  lease.confirm({ generation: 1, amount: 100n }, requestedAt)
  expect([lease.free, lease.isUnsure]).toEqual([0n, true])
  lease.adopt({ generation: 2, amount: 30n })
  expect([lease.free, lease.isUnsure]).toEqual([0n, false])
})

test('finding M18: credit offered by a call that changed nothing is free again', () => {
  const lease = newLease()
  lease.offer()
  lease.keepOffered()
  expect([lease.free, lease.offeredAmount, lease.isUnsure]).toEqual([70n, 0n, false])
})

test('a renewal of a lease whose state is known confirms its amount; one of a later generation makes it unsure', () => {
  const lease = newLease()
  lease.confirm({ generation: 1, amount: 90n }, requestedAt)
  expect([lease.free, lease.isUnsure]).toEqual([60n, false])
  lease.confirm({ generation: 2, amount: 100n }, requestedAt)
  expect([lease.free, lease.isUnsure]).toEqual([60n, true])
})

test('finding M21: a lease from before a failover is fenced, and has only the credit that the database has', () => {
  const lease = newLease()
  lease.adopt({ generation: 5, amount: 100n })
  lease.confirm({ generation: 3, amount: 60n }, requestedAt)
  expect([lease.free, lease.isUnsure]).toEqual([30n, true])
  const returned = newLease()
  returned.adopt({ generation: 5, amount: 100n })
  returned.confirm({ generation: 3, amount: 160n }, requestedAt)
  expect([returned.free, returned.isUnsure]).toEqual([70n, true])
})
