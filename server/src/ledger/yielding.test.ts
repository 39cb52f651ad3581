import { expect, test } from 'bun:test'
import { World } from '../../testing/ledger/reference-world'

/** Calls are answered at once and time passes, until all who wait have been told. */
async function settleDown(world: World): Promise<void> {
  for (let round = 0; round < 60; round++) {
    while (world.calls.length > 0) await world.run({ do: 'deliver', pick: 0, fate: 'answered' })
    await world.run({ do: 'pass', ms: 25 })
  }
}

/** Each of three nodes has used a half of 300, and keeps the rest of its lease. */
async function spread(): Promise<World> {
  const world = new World()
  await world.run({ do: 'topUp', account: 0, amount: 1000 })
  for (const node of [0, 1, 2]) {
    await world.run({ do: 'admit', node, account: 0, full: 300, floor: 300 })
    await settleDown(world)
    await world.run({ do: 'settle', pick: 0, share: 50 })
  }
  expect(world.admitted).toBe(3)
  for (const node of [0, 1, 2]) {
    while (world.nodes[node]?.journal.length) {
      await world.run({ do: 'flush', node, fate: 'answered' })
    }
  }
  return world
}

test('M23: nodes that run short together do not all reject a request that one of them could pay', async () => {
  const world = await spread()
  // 550 are left, and no node has 400.
  for (const node of [0, 1, 2]) {
    await world.run({ do: 'admit', node, account: 0, full: 400, floor: 400 })
  }
  await settleDown(world)
  expect([world.admitted, world.refused.length]).toEqual([4, 2])
})

test('a node that yielded receives the credit that the other node returns', async () => {
  const world = await spread()
  // The first takes 300 of 550; 250 remain for the others, of which one has enough.
  for (const [node, full] of [300, 500, 240].entries()) {
    await world.run({ do: 'admit', node, account: 0, full, floor: full })
  }
  await settleDown(world)
  expect([world.admitted, world.refused.length]).toEqual([5, 1])
})

test('serves a request that arrives while free credit is being returned', async () => {
  const world = new World()
  await world.run({ do: 'topUp', account: 0, amount: 100 })
  // It has less than is wanted, and knows for a second that there is no more.
  await world.run({ do: 'admit', node: 0, account: 0, full: 500, floor: 500 })
  await world.run({ do: 'deliver', pick: 0, fate: 'answered' })
  await world.run({ do: 'deliver', pick: 0, fate: 'answered' })
  expect(world.refused.length).toBe(1)
  // Another node is short, so the first returns its 100; the database has not answered yet.
  await world.run({ do: 'admit', node: 1, account: 0, full: 50, floor: 50 })
  await world.run({ do: 'deliver', pick: 0, fate: 'answered' })
  await world.run({ do: 'admit', node: 0, account: 0, full: 30, floor: 30 })
  await settleDown(world)
  expect([world.admitted, world.refused.length]).toEqual([2, 1])
})

test('retries an unanswered reclaim a second later', async () => {
  const world = new World()
  await world.run({ do: 'topUp', account: 0, amount: 100 })
  await world.run({ do: 'admit', node: 0, account: 0, full: 500, floor: 500 })
  await settleDown(world)
  await world.run({ do: 'admit', node: 1, account: 0, full: 50, floor: 50 })
  await world.run({ do: 'deliver', pick: 0, fate: 'answered' })
  // What the first returns, as a row that is locked for too long would make it.
  await world.run({ do: 'deliver', pick: 0, fate: 'lost before' })
  for (let second = 0; second < 2; second++) {
    await world.run({ do: 'tick', node: 0 })
    await settleDown(world)
  }
  expect([world.admitted, world.refused.length]).toEqual([1, 1])
})

test('finding M23: a rejection because a node does not answer names the balance of the account', async () => {
  const world = new World()
  await world.run({ do: 'topUp', account: 0, amount: 100 })
  await world.run({ do: 'admit', node: 0, account: 0, full: 80, floor: 80 })
  await settleDown(world)
  await world.run({ do: 'settle', pick: 0, share: 0 })
  await world.run({ do: 'crash', node: 0 })
  await world.run({ do: 'admit', node: 1, account: 0, full: 60, floor: 60 })
  // Longer than answers are awaited.
  for (let times = 0; times < 10; times++) await settleDown(world)
  expect(
    world.refused.map(({ error: { available, neededAmount } }) => [available, neededAmount]),
  ).toEqual([[100n, 60n]])
})
