import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createCustomer } from '../../testing/ledger/customer'
import { lastReclaimOf } from '../../testing/ledger/reclaims'
import { endLeases } from './end-leases'
import { renewLeases } from './renew-leases'
import { returnLeases } from './return-leases'
import { takeLease, takeLeases } from './take-lease'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { eventually } from '../../testing/eventually'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

/** An account with 1,000 nano-dollars. */
const newAccount = () => createCustomer(database, 1000n)

const stateOf = async (accountId: string) => {
  const { rows } = await sql<{ posted: bigint; leased: bigint }>`
    select posted, leased from credit_account where id = ${accountId}`.execute(database.query)
  return rows[0]
}

const taker = { nodeId: 'node', nodes: 1, lifeSeconds: 60, demandSeconds: 60 }

const want = { generation: 0, need: 100n, wish: 0n, isReclaiming: false }
const skipping = { isSkipping: true, lockMs: 20_000 }

/** Resolves once a statement waits for a lock. */
const blocked = () =>
  eventually(async () => {
    const { rows } = await sql<{ waiting: bigint }>`
      select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(database.query)
    return (rows[0]?.waiting ?? 0n) > 0n
  })

test('takes leases of several accounts in one commit, without waiting for locked accounts', async () => {
  const accounts = await Promise.all([1, 2, 3].map(() => newAccount()))
  const [busy = ''] = accounts
  const wanted = accounts.map((accountId) => {
    return { leaseId: newId('lease'), accountId, ...want }
  })
  const taken = await database.query.transaction().execute(async (trx) => {
    await sql`select from credit_account where id = ${busy} for update`.execute(trx)
    return await takeLeases(database.query, wanted, { ...taker, ...skipping })
  })
  const lease = {
    isApplied: true,
    isActive: true,
    isWaiting: false,
    generation: 1,
    amount: 100n,
    available: 900n,
    onOtherNodes: 0n,
    unanswered: 0n,
    reserved: 0n,
  }
  expect(taken).toEqual(new Map(wanted.slice(1).map(({ leaseId }) => [leaseId, lease])))
  expect(await Promise.all(accounts.map(stateOf))).toEqual(
    [0n, 100n, 100n].map((leased) => ({ posted: 1000n, leased })),
  )
  // One that has ended takes nothing more, and those beside it do.
  const [, ended, other] = wanted
  await endLeases(database.query, [ended?.leaseId ?? ''], 'closed')
  const again = wanted.slice(1).map((one) => ({ ...one, generation: 1 }))
  const answers = await takeLeases(database.query, again, { ...taker, ...skipping })
  expect(answers.get(ended?.leaseId ?? '')).toMatchObject({ isApplied: false, isActive: false })
  expect(answers.get(other?.leaseId ?? '')).toMatchObject({ isApplied: true, amount: 200n })
  expect(await stateOf(other?.accountId ?? '')).toEqual({ posted: 1000n, leased: 200n })
})

test.each(['renewed', 'grown'] as const)(
  'leases are %s in the order of their ids: concurrent statements wait, and neither fails',
  async (way) => {
    const [first = '', last = ''] = [newId('lease'), newId('lease')].toSorted()
    const accounts = await Promise.all([newAccount(), newAccount()])
    // The table has them the other way round.
    const wanted = [last, first].map((leaseId, at) => {
      return { leaseId, accountId: accounts[at] ?? '', ...want }
    })
    for (const one of wanted) {
      await takeLease(database.query, { ...one, ...taker })
    }
    const waiting = await database.query.transaction().execute(async (trx) => {
      const lock = (id: string) =>
        sql`select from credit_lease where id = ${id} for update nowait`.execute(trx)
      await lock(first)
      const working =
        way === 'renewed'
          ? renewLeases(database.query, [last, first], { lifeSeconds: 60, lockMs: 20_000 })
          : takeLeases(database.query, wanted, { ...taker, ...skipping })
      await blocked()
      await lock(last)
      return { working }
    })
    expect((await waiting.working).size).toBe(2)
  },
)

interface Claimed {
  need: bigint
  spare: bigint
  isReclaiming?: boolean
  /** Whether the node has received all reclaims so far. */
  hasReclaims?: boolean
}

/** Claims of nodes, each with its lease of a new account. */
async function openNodes() {
  const accountId = await newAccount()
  const generations = new Map<string, number>()
  const leaseIds = new Map<string, string>()
  const leaseOf = (nodeId: string) => {
    const leaseId = leaseIds.get(nodeId) ?? newId('lease')
    leaseIds.set(nodeId, leaseId)
    return { leaseId, generation: generations.get(nodeId) ?? 0 }
  }
  const reclaims = (hasReclaims: boolean) =>
    hasReclaims ? lastReclaimOf(database.query, accountId) : Promise.resolve(0n)
  return {
    accountId,
    claim: async (nodeId: string, claimed: Claimed) => {
      const { need, spare, isReclaiming = false, hasReclaims = false } = claimed
      const lastReclaim = await reclaims(hasReclaims)
      const amounts = { need, spare, wish: 0n, isReclaiming, lastReclaim }
      const wants = { ...leaseOf(nodeId), accountId, ...amounts }
      const answer = await takeLease(database.query, { ...wants, ...taker, nodeId })
      generations.set(nodeId, answer?.generation ?? 0)
      return answer
    },
    /** Says that nothing of the node's lease is free. */
    returnNothing: async (nodeId: string, { hasReclaims }: { hasReclaims: boolean }) => {
      const lease = leaseOf(nodeId)
      const returned = { ...lease, amount: 0n, lastReclaim: await reclaims(hasReclaims) }
      const options = { isLast: false, isSkipping: false, lockMs: 20_000 }
      const answers = await returnLeases(database.query, [returned], options)
      generations.set(nodeId, answers.get(lease.leaseId)?.generation ?? 0)
    },
  }
}

describe('nodes that run short of one account', () => {
  test('finding M18: a node in line, but not first, keeps no credit that the first needs', async () => {
    const { accountId, claim } = await openNodes()
    await claim('a', { need: 600n, spare: 0n })
    await claim('b', { need: 300n, spare: 0n })
    const first = { isWaiting: true, amount: 700n, available: 0n, unanswered: 300n, reserved: 0n }
    expect(await claim('a', { need: 800n, spare: 0n, isReclaiming: true })).toMatchObject(first)
    const second = { isWaiting: true, amount: 100n, available: 200n, reserved: 200n }
    // It has received the reclaim of the first before it joins the line: that is its answer.
    const joins = { need: 500n, spare: 200n, isReclaiming: true, hasReclaims: true }
    expect(await claim('b', joins)).toMatchObject(second)
    const all = { isWaiting: true, amount: 900n, available: 0n, unanswered: 0n }
    expect(await claim('a', { need: 800n, spare: 100n })).toMatchObject(all)
    expect(await claim('b', { need: 500n, spare: 0n })).toMatchObject({
      unanswered: 900n,
      available: 0n,
    })
    expect(await claim('a', { need: 0n, spare: 300n, hasReclaims: true })).toMatchObject({
      isWaiting: false,
      amount: 600n,
    })
    const next = { isWaiting: true, amount: 400n, available: 0n, unanswered: 0n, reserved: 0n }
    expect(await claim('b', { need: 500n, spare: 0n })).toMatchObject(next)
    expect(await stateOf(accountId)).toEqual({ posted: 1000n, leased: 1000n })
  })

  test('M27: a message sent before the node received a reclaim does not answer it, however late it arrives', async () => {
    const { claim, returnNothing } = await openNodes()
    await claim('a', { need: 700n, spare: 0n })
    const unanswered = { isWaiting: true, unanswered: 700n }
    expect(await claim('b', { need: 500n, spare: 0n, isReclaiming: true })).toMatchObject(
      unanswered,
    )
    // A request of the node held it all when this was sent, and has ended since.
    await returnNothing('a', { hasReclaims: false })
    expect(await claim('b', { need: 500n, spare: 0n })).toMatchObject(unanswered)
    await claim('a', { need: 0n, spare: 0n })
    expect(await claim('b', { need: 500n, spare: 0n })).toMatchObject(unanswered)
    await returnNothing('a', { hasReclaims: true })
    const answered = { isWaiting: true, onOtherNodes: 700n, unanswered: 0n }
    expect(await claim('b', { need: 500n, spare: 0n })).toMatchObject(answered)
    await claim('a', { need: 0n, spare: 700n, hasReclaims: true })
    expect(await claim('b', { need: 500n, spare: 0n })).toMatchObject({
      isWaiting: false,
      amount: 800n,
    })
  })

  test('finding M18: a node that receives all it needs takes nothing else from the nodes behind it', async () => {
    const { claim } = await openNodes()
    await claim('a', { need: 400n, spare: 0n })
    await claim('b', { need: 500n, spare: 0n })
    expect(await claim('c', { need: 300n, spare: 0n, isReclaiming: true })).toMatchObject({
      isWaiting: true,
      amount: 100n,
    })
    expect(await claim('b', { need: 50n, spare: 100n, isReclaiming: true })).toMatchObject({
      isWaiting: true,
      available: 100n,
    })
    expect(await claim('c', { need: 120n, spare: 100n })).toMatchObject({
      amount: 120n,
      available: 80n,
    })
    expect(await claim('b', { need: 50n, spare: 0n })).toMatchObject({
      isWaiting: false,
      amount: 450n,
    })
  })

  test('finding M18: nodes of the earlier version wait in the same line', async () => {
    const { accountId, claim } = await openNodes()
    await claim('new', { need: 700n, spare: 0n })
    const { rows } = await sql<{ amount: bigint; unanswered: bigint }>`
      select amount, unanswered from take_leases(
        ${[newId('lease')]}::text[], ${[0]}::integer[], ${[accountId]}::text[], ${[500n]}::bigint[],
        ${[0n]}::bigint[], ${[true]}::boolean[], 'old', 2, interval '60 s', interval '60 s', false, 5000
      )`.execute(database.query)
    expect(rows).toEqual([{ amount: 300n, unanswered: 700n }])
    const behind = { isWaiting: true, amount: 400n, available: 300n, reserved: 200n }
    expect(await claim('new', { need: 600n, spare: 300n, isReclaiming: true })).toMatchObject(
      behind,
    )
  })
})
