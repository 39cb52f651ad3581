import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { deleteEarlierShares, deleteShares, exchangeShares } from './exchange-shares'
import type { ShareMoment } from './share-exchange'
import { registerNode } from '../node'
import { openTestDatabase } from '../../../testing/db/database'
import { createCustomer } from '../../../testing/ledger/customer'
import { recordForTests } from '../../../testing/ledger/event'
import { settle } from '../settle'
import { newId } from '../../platform/db/id'
import type { Database } from '../../platform/db/database'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const window = { fromMs: Date.UTC(2026, 1), toMs: Date.UTC(2026, 2) }

/** Names a usage of an account, with events that may not be booked yet. */
const usageOf = (userId: string, unbooked: readonly { id: string; startedAt: string }[] = []) => ({
  id: userId,
  subjectId: userId,
  userId,
  window,
  unbooked,
})

interface Reserving {
  userId: string
  nodeId: string
  spent: bigint
}

/** Reserves an amount for a node, as far as a limit of 100 allows. Resolves with what it has then. */
async function reserve({ userId, nodeId, spent }: Reserving): Promise<bigint> {
  let granted = 0n
  await exchangeShares(database.query, {
    nodeId,
    lockMs: 2000,
    usages: [usageOf(userId)],
    decide: ({ turn, nowMs, shares, sums }) => {
      const all = shares.get(userId) ?? []
      const before = all.find((share) => share.nodeId === nodeId)?.reserved.spent ?? 0n
      const reserved = all.reduce((sum, share) => sum + share.reserved.spent, 0n)
      const left = 100n - (sums.get(userId)?.spent ?? 0n) - reserved
      granted = left < spent ? 0n : spent
      const share = {
        nodeId,
        reserved: { requests: 0n, spent: before + granted, tokens: before + granted },
        shortage: { requests: 0n, spent: spent - granted, tokens: spent - granted },
        waitsSince: granted < spent ? turn : null,
        turn,
        statedAtMs: nowMs,
      }
      return [{ share, deadNodes: [], needsOthers: false }]
    },
  })
  return granted
}

/** Reads a moment without a change of what is there. */
async function look(userId: string, unbooked: readonly { id: string; startedAt: string }[] = []) {
  let moment: ShareMoment | undefined
  await exchangeShares(database.query, {
    nodeId: 'node_reader',
    lockMs: 2000,
    usages: [usageOf(userId, unbooked)],
    decide: (read) => {
      moment = read
      return [undefined]
    },
  })
  if (!moment) throw new Error('nothing was read')
  return moment
}

test('exchanges of nodes at once see each other, so that all shares together keep to a limit', async () => {
  const userId = await createCustomer(database, 1000n)
  const event = { id: newId('att'), startedAt: '2026-02-03T00:00:00.000Z' }
  await settle(database.query, [recordForTests(userId, { ...event, cost: 30n })])
  const granted = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      reserve({ userId, nodeId: `node_${at % 3}`, spent: 10n }),
    ),
  )
  expect(granted.reduce((sum, amount) => sum + amount, 0n)).toBe(70n)
  const { sums, shares, bookedIds, turn } = await look(userId, [event])
  expect(sums.get(userId)).toEqual({ requests: 1, spent: 30n, tokens: 28n })
  expect(bookedIds).toEqual([event.id])
  const all = shares.get(userId) ?? []
  for (const unit of ['spent', 'tokens'] as const)
    expect(all.reduce((sum, share) => sum + share.reserved[unit], 0n)).toBe(70n)
  for (const share of all) expect(share.turn).toBeLessThan(turn)
})

test('an exchange that fails changes nothing, and a decided end deletes shares', async () => {
  const userId = await createCustomer(database, 0n)
  await reserve({ userId, nodeId: 'node_1', spent: 40n })
  await reserve({ userId, nodeId: 'node_2', spent: 40n })
  const exchange = { nodeId: 'node_1', lockMs: 2000, usages: [usageOf(userId)] }
  const failing = exchangeShares(database.query, {
    ...exchange,
    decide: () => {
      throw new Error('no decision')
    },
  })
  await expect(failing).rejects.toThrow('no decision')
  expect((await look(userId)).shares.get(userId)).toHaveLength(2)
  const ended = { share: undefined, deadNodes: ['node_2'], needsOthers: false }
  await exchangeShares(database.query, { ...exchange, decide: () => [ended] })
  expect((await look(userId)).shares.get(userId)).toBeUndefined()
})

test('a node deletes its own shares, and those of earlier starts in its directory', async () => {
  const userId = await createCustomer(database, 0n)
  const location = newId('key')
  const [earlier, now, other] = [newId('node'), newId('node'), newId('node')]
  await registerNode(database.query, { id: earlier, location })
  await registerNode(database.query, { id: now, location })
  await registerNode(database.query, { id: other, location: newId('key') })
  for (const nodeId of [earlier, now, other]) await reserve({ userId, nodeId, spent: 10n })
  const nodes = async () => {
    const { rows } = await sql<{ node_id: string }>`
      select node_id from limit_share where usage_id = ${userId}`.execute(database.query)
    return new Set(rows.map(({ node_id }) => node_id))
  }
  await deleteEarlierShares(database.query, { id: now, location })
  expect(await nodes()).toEqual(new Set([now, other]))
  await deleteShares(database.query, now)
  expect(await nodes()).toEqual(new Set([other]))
})
