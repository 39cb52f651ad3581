import { expect, test } from 'bun:test'
import { LeaseReclaimer } from './lease-reclaim'

const second = 1_000_000n
const start = 1_800_000_000n * second

/** Recalls, and the accounts of those that were answered. */
function newRecalls() {
  const answered: string[] = []
  return {
    answered,
    reclaims: new LeaseReclaimer(({ accountId, by }) => answered.push(accountId + by)),
  }
}

test('M31: answers a reclaim once that arrives both by notification and by polling', () => {
  const { answered, reclaims } = newRecalls()
  reclaims.onNotification(`node_2 a ${start}`, 'node_1')
  reclaims.note({ accountId: 'a', by: 'node_2', at: start })
  reclaims.note({ accountId: 'b', by: 'node_2', at: start })
  reclaims.onNotification(`node_2 b ${start}`, 'node_1')
  reclaims.note({ accountId: 'a', by: 'node_3', at: start + 1n })
  expect(answered).toEqual(['anode_2', 'bnode_2', 'anode_3'])
})

test('ignores its own reclaims, and malformed notifications', () => {
  const { answered, reclaims } = newRecalls()
  reclaims.onNotification(`node_1 a ${start}`, 'node_1')
  reclaims.onNotification('', 'node_1')
  expect(answered).toEqual([])
})

test('evicts answered reclaims only when they are old', () => {
  const { answered, reclaims } = newRecalls()
  for (let age = 0n; age < 100n; age++) {
    const at = start + age * second
    reclaims.note({ accountId: 'often', by: 'x', at })
    reclaims.note({ accountId: `once ${age}`, by: 'x', at })
    // As the next look finds it again.
    reclaims.note({ accountId: `once ${age}`, by: 'x', at })
  }
  expect(answered).toHaveLength(200)
})
