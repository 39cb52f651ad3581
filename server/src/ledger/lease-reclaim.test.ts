import { expect, test } from 'bun:test'
import { LeaseReclaimer } from './lease-reclaim'

const second = 1_000_000n
const start = 1_800_000_000n * second

/** Recalls, and the accounts of those that were answered. */
function newRecalls() {
  const answered: string[] = []
  return {
    answered,
    recalls: new LeaseReclaimer(({ accountId, by }) => answered.push(accountId + by)),
  }
}

test('M31: a recall that is heard of twice, by notification and by asking, is answered once', () => {
  const { answered, recalls } = newRecalls()
  recalls.hear(`node_2 a ${start}`, 'node_1')
  recalls.note({ accountId: 'a', by: 'node_2', at: start })
  recalls.note({ accountId: 'b', by: 'node_2', at: start })
  recalls.hear(`node_2 b ${start}`, 'node_1')
  recalls.note({ accountId: 'a', by: 'node_3', at: start + 1n })
  expect(answered).toEqual(['anode_2', 'bnode_2', 'anode_3'])
})

test('its own recalls, and what says nothing, a node does not answer', () => {
  const { answered, recalls } = newRecalls()
  recalls.hear(`node_1 a ${start}`, 'node_1')
  recalls.hear('', 'node_1')
  expect(answered).toEqual([])
})

test('what is long past is forgotten, the rest is not', () => {
  const { answered, recalls } = newRecalls()
  for (let age = 0n; age < 100n; age++) {
    const at = start + age * second
    recalls.note({ accountId: 'often', by: 'x', at })
    recalls.note({ accountId: `once ${age}`, by: 'x', at })
    // As the next look finds it again.
    recalls.note({ accountId: `once ${age}`, by: 'x', at })
  }
  expect(answered).toHaveLength(200)
})
