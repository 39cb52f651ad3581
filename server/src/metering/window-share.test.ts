import { expect, test } from 'bun:test'
import { WindowShare, type ShareDemand } from './window-share'
import { noAmounts } from '../ledger/shares/grant-share'

const at = { monotonicMs: 1000, wallMs: 1_000_000 }
const unused = { bookedAmounts: noAmounts, used: noAmounts }
const limitsOf = (requests: bigint) => ({ requests, spent: null, tokens: null })

/** A share of 100 requests, and a decision about it for one that waits. */
function decided() {
  const share = new WindowShare()
  share.limitTo(limitsOf(100n), noAmounts)
  const demand: ShareDemand = { unit: 'requests', full: 1n, turn: undefined }
  share.waiting.add(demand)
  const statement = { ...unused, nodeId: 'a', shares: [], turn: 1n, nowMs: at.wallMs, sentAt: at }
  const { apply } = share.decide(statement)
  return { share, apply }
}

test('a decision grants once it is stored', () => {
  const { share, apply } = decided()
  expect(share.freeOf('requests', unused, at)).toBe(0n)
  apply()
  expect(share.freeOf('requests', unused, at)).toBeGreaterThan(0n)
})

test('a decision from before the limit was lowered grants nothing', () => {
  const { share, apply } = decided()
  share.limitTo(limitsOf(50n), noAmounts)
  apply()
  expect(share.freeOf('requests', unused, at)).toBe(0n)
})

test('a decision from before the limit was raised grants as decided', () => {
  const { share, apply } = decided()
  share.limitTo(limitsOf(200n), noAmounts)
  apply()
  expect(share.freeOf('requests', unused, at)).toBeGreaterThan(0n)
})
