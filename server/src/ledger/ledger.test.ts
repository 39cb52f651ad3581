import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { sql } from 'kysely'
import { endLeases } from './end-leases'
import { fenceLease } from './fence-lease'
import { recordForTests } from '../../testing/ledger/event'
import { lastReclaimOf } from '../../testing/ledger/reclaims'
import { ReferenceLedger } from '../../testing/ledger/reference-ledger'
import { createCustomer, topUpOf } from '../../testing/ledger/customer'
import { post } from './post'
import { renewLeases } from './renew-leases'
import { returnLeases } from './return-leases'
import { settle } from './settle'
import { command, type TableCommand } from '../../testing/ledger/table-command'
import { takeLease, takeLeases } from './take-lease'
import { toOrphanRecord } from './usage-record'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const newAccount = () => createCustomer(database)

const topUp = (...fields: Parameters<typeof topUpOf>) => post(database.query, topUpOf(...fields))

const stateOf = async (accountId: string) => {
  const { rows } = await sql<{ posted: bigint; leased: bigint }>`
    select posted, leased from credit_account where id = ${accountId}`.execute(database.query)
  return rows[0]
}

/** The same commands to the tables and to the model. */
class Both {
  readonly model = new ReferenceLedger()
  readonly accountId: string
  /** An organization's, that earns what its members pay. */
  readonly poolId: string
  readonly leaseIds = [0, 1, 2].map(() => newId('att'))

  constructor(accountId: string, poolId: string) {
    this.accountId = accountId
    this.poolId = poolId
    this.model.account(accountId)
    this.model.account(poolId)
  }

  async run(step: TableCommand): Promise<void> {
    const { model, accountId } = this
    const leaseId = this.leaseIds['lease' in step ? step.lease : 0] ?? ''
    switch (step.do) {
      case 'topUp':
        await topUp(accountId, BigInt(step.amount))
        model.account(accountId).posted += BigInt(step.amount)
        break
      case 'take':
        await this.#take(leaseId, step)
        break
      case 'giveBack': {
        const generation = this.#generationOf(leaseId, step)
        const returned = { leaseId, generation, amount: BigInt(step.amount) }
        const options = { isLast: step.isLast, isSkipping: false, lockMs: 5000 }
        const reclaims = await this.#lastReclaims(step)
        const real = [{ ...returned, lastReclaim: reclaims.real }]
        expect(await returnLeases(database.query, real, options)).toEqual(
          model.giveBack([{ ...returned, lastReclaim: reclaims.modelled }], options),
        )
        break
      }
      case 'fence': {
        const fenced = { leaseId, accountId, generation: this.#generationOf(leaseId, step) }
        const real = await fenceLease(database.query, fenced, { nodeId: 'node 0', lockMs: 5000 })
        expect(real).toEqual(model.fence({ ...fenced, nodeId: 'node 0', nowMs: 0 }))
        break
      }
      case 'settle': {
        const events = step.costs.map(({ cost: costNanos, isMembers }) => {
          const cost = BigInt(costNanos)
          const payeeId = isMembers ? this.poolId : null
          const fee = { payeeId, feeMillionths: 33_333 }
          return { id: newId('att'), accountId, leaseId, cost, fromLease: cost, ...fee }
        })
        const records = events.map(({ payeeId, ...event }) =>
          recordForTests(accountId, {
            ...event,
            organizationId: payeeId,
            billingMode: payeeId === null ? 'platform' : 'member_pays',
          }),
        )
        await settle(database.query, records)
        if (step.isRepeated) await settle(database.query, records)
        model.settle(events)
        break
      }
      case 'end':
        await endLeases(database.query, [leaseId], 'closed')
        model.end([leaseId], 'closed')
        break
      case 'renew':
        expect(
          await renewLeases(database.query, [leaseId], { lifeSeconds: 3600, lockMs: 5000 }),
        ).toEqual(model.renew([leaseId], 0))
        break
    }
  }

  async #take(leaseId: string, step: TableCommand & { do: 'take' }): Promise<void> {
    const { nodes } = step
    const wants = {
      leaseId,
      accountId: this.accountId,
      need: BigInt(step.need),
      spare: BigInt(step.spare),
      wish: BigInt(step.wish),
      generation: this.#generationOf(leaseId, step),
      isReclaiming: step.isReclaiming,
    }
    // Long enough for the whole sequence: the model has no clock here.
    const taker = { nodeId: `node ${step.node}`, nodes, lifeSeconds: 3600, demandSeconds: 3600 }
    const locking = { isSkipping: step.inBatch, lockMs: 5000 }
    const reclaims = await this.#lastReclaims(step)
    const claims = [{ ...wants, lastReclaim: reclaims.real }]
    const real = await takeLeases(database.query, claims, { ...taker, ...locking })
    const modelled = { ...wants, ...taker, demandMs: 3_600_000, lastReclaim: reclaims.modelled }
    expect(real.get(leaseId)).toEqual(this.model.take({ ...modelled, nowMs: 0 }))
  }

  /** The last reclaim by the clock of each side, where the node has received it. */
  async #lastReclaims({ hasReclaim }: { hasReclaim: boolean }) {
    if (!hasReclaim) return { real: 0n, modelled: 0n }
    const { accountId } = this
    const modelled = this.model.demands.lastReclaim(accountId)
    return { real: await lastReclaimOf(database.query, accountId), modelled }
  }

  #generationOf(leaseId: string, { generation }: { generation: 'right' | 'earlier' | 'none' }) {
    const known = this.model.leases.get(leaseId)?.generation ?? 0
    if (generation === 'right') return known
    return generation === 'earlier' ? Math.max(0, known - 1) : 0
  }

  async compare(): Promise<void> {
    for (const id of [this.accountId, this.poolId]) {
      expect(await stateOf(id)).toEqual(this.model.account(id))
    }
    const leases = await sql<object>`
      select id, amount, spent, state, generation from credit_lease
      where account_id = ${this.accountId} order by id`.execute(database.query)
    const known = [...this.model.leases].map(([id, { amount, spent, state, generation }]) => {
      return { id, amount, spent, state, generation }
    })
    expect(leases.rows).toEqual(known.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    const { rows } = await sql<{ id: string; charged: bigint; writtenOff: bigint }>`
      select id, from_lease + from_balance as charged, written_off as "writtenOff"
      from usage_event where account_id = ${this.accountId}`.execute(database.query)
    const booked = Object.fromEntries(rows.map(({ id, ...row }) => [id, row]))
    expect(booked).toEqual(Object.fromEntries(this.model.booked))
  }
}

const sumsOf = async (accountId: string) => {
  const { rows } = await sql`
    select grain, requests, failures, output_tokens, duration_ms, cost from usage_sum
    where account_id = ${accountId} order by grain`.execute(database.query)
  return rows
}

describe('the tables', () => {
  test('match the model, command by command', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async (steps) => {
        const both = new Both(await newAccount(), await newAccount())
        for (const step of [{ do: 'topUp', amount: 500 } as const, ...steps]) await both.run(step)
        await both.compare()
        expect(both.model.violations()).toEqual([])
      }),
      { numRuns: 150 },
    )
  }, 120_000)

  test('M01: 200 concurrent takes never take more than the balance', async () => {
    const accountId = await newAccount()
    await topUp(accountId, 1000n)
    const taken = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        takeLease(database.query, {
          generation: 0,
          isReclaiming: false,
          leaseId: newId('att'),
          accountId,
          nodeId: `node ${index}`,
          need: 100n,
          wish: 0n,
          nodes: 3,
          lifeSeconds: 60,
          demandSeconds: 2,
        }),
      ),
    )
    expect(taken.filter((it) => it?.amount === 100n)).toHaveLength(10)
    expect(await stateOf(accountId)).toEqual({ posted: 1000n, leased: 1000n })
  })

  test('D15: two flushers with the same events book each once', async () => {
    const accountId = await newAccount()
    await topUp(accountId, 10_000n)
    const events = Array.from({ length: 20 }, () => recordForTests(accountId, { cost: 10n }))
    await Promise.all([1, 2, 3, 4].map(() => settle(database.query, events)))
    expect(await stateOf(accountId)).toEqual({ posted: 9800n, leased: 0n })
    const { rows } = await sql<{ requests: bigint; cost: bigint }>`
      select requests, cost from usage_sum where account_id = ${accountId} and grain = 'day'
    `.execute(database.query)
    expect(rows).toEqual([{ requests: 20n, cost: 200n }])
  })

  test('I4: books an event once that is twice in a batch, covered by a lease or not', async () => {
    const accountId = await newAccount()
    await topUp(accountId, 10_000n)
    const leaseId = newId('lease')
    const lease = { leaseId, accountId, nodeId: 'node', need: 1000n, wish: 0n }
    await takeLease(database.query, {
      generation: 0,
      isReclaiming: false,
      ...lease,
      nodes: 1,
      lifeSeconds: 60,
      demandSeconds: 2,
    })
    const uncovered = recordForTests(accountId, { cost: 10n })
    const covered = recordForTests(accountId, { cost: 20n, leaseId, fromLease: 20n })
    await settle(database.query, [uncovered, uncovered])
    await settle(database.query, [covered, covered])
    const dead = recordForTests(accountId, { cost: 30n })
    await settle(database.query, [toOrphanRecord(dead), dead, toOrphanRecord(dead)])
    expect(await stateOf(accountId)).toEqual({ posted: 9940n, leased: 980n })
  })

  test('M34: charges an attempt that was recorded as dead once it settles, in either order', async () => {
    const [before, after] = [await newAccount(), await newAccount()]
    for (const accountId of [before, after]) {
      await topUp(accountId, 10_000n)
      const record = recordForTests(accountId, { cost: 10n })
      const records =
        accountId === before ? [toOrphanRecord(record), record] : [record, toOrphanRecord(record)]
      // Each again, as when its commit went unheard.
      for (const one of [...records, ...records]) await settle(database.query, [one])
      await Promise.all(records.map((one) => settle(database.query, [one])))
      expect(await stateOf(accountId)).toEqual({ posted: 9990n, leased: 0n })
    }
    expect(await sumsOf(before)).toEqual(await sumsOf(after))
    expect(await sumsOf(before)).toMatchObject([
      { grain: 'day', requests: 1n, failures: 0n, cost: 10n },
      { grain: 'hour', requests: 1n, failures: 0n, cost: 10n },
      { grain: 'minute', requests: 1n, failures: 0n, cost: 10n },
      { grain: 'quarter_hour', requests: 1n, failures: 0n, cost: 10n },
    ])
  })

  test('books the same payment once, also when it arrives twice at the same time', async () => {
    const accountId = await newAccount()
    const posted = await Promise.all([1, 2, 3].map(() => topUp(accountId, 50n, `pay:${accountId}`)))
    expect(new Set(posted.map((it) => it?.transactionId)).size).toBe(1)
    expect(await stateOf(accountId)).toEqual({ posted: 50n, leased: 0n })
  })

  test('I7: rejects an adjustment below the leased amount', async () => {
    const accountId = await newAccount()
    await topUp(accountId, 100n)
    const request = { leaseId: newId('att'), accountId, nodeId: 'n', need: 60n, wish: 0n }
    await takeLease(database.query, {
      generation: 0,
      isReclaiming: false,
      ...request,
      nodes: 1,
      lifeSeconds: 60,
      demandSeconds: 2,
    })
    expect(await topUp(accountId, -41n)).toBeUndefined()
    expect(await topUp(accountId, -40n)).toMatchObject({ balanceAfter: 60n })
  })

  test.each([
    'update ledger_entry set amount = 1',
    'delete from ledger_entry',
    'truncate ledger_entry',
    'update ledger_transaction set kind = $$usage$$',
    'delete from ledger_transaction',
  ])('M17 I10: rejects %s', async (statement) => {
    await topUp(await newAccount(), 1n)
    const refused = sql.raw(statement).execute(database.query)
    await expect(refused).rejects.toThrow(/append-only|permission denied/)
  })
})
