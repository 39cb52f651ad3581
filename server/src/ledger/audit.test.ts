import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql, type Kysely } from 'kysely'
import { findViolations, count, lookForWarnings } from './audit'
import type { CheckName } from './audit-queries'
import type { AuditScope } from './audit-scope'
import { createCustomer } from '../../testing/ledger/customer'
import { recordForTests } from '../../testing/ledger/event'
import { allowLedgerChanges } from '../../testing/ledger/protection'
import { settle } from './settle'
import { takeLease } from './take-lease'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

const stack = new AsyncDisposableStack()
let database: Database
/** An account with a top-up, an active lease, a booked batch of two events, and its neighbour. */
let accountId: string
let neighbourId: string

beforeAll(async () => {
  database = await openTestDatabase(stack)
  accountId = await busyCustomer()
  neighbourId = await busyCustomer()
})
afterAll(() => stack.disposeAsync())

/** With a top-up, an active lease and two events. */
async function busyCustomer(): Promise<string> {
  const { query } = database
  const id = await createCustomer(database, 1000n)
  const leaseId = newId('lease')
  const lease = { leaseId, accountId: id, nodeId: 'node', need: 100n, wish: 0n }
  await takeLease(query, {
    generation: 0,
    isReclaiming: false,
    ...lease,
    nodes: 1,
    lifeSeconds: 3600,
    demandSeconds: 2,
  })
  await settle(query, [eventOf(id, leaseId, 30n), eventOf(id, leaseId, 20n)])
  return id
}

const eventOf = (id: string, leaseId: string, cost: bigint) =>
  recordForTests(id, { leaseId, cost, fromLease: cost })

const rollback = new Error('rolled back')

/** What the audit finds after `damage`, which is undone. Whatever protects the tables is off in it. */
async function findAfter(damage: string, scope: AuditScope) {
  const found = { checks: new Map<CheckName, (string | null)[]>() }
  const done = database.query.transaction().execute(async (trx) => {
    await unprotect(trx)
    await sql.raw(damage.replaceAll('$me', `'${accountId}'`)).execute(trx)
    for (const { check, accountId: of } of await findViolations(trx, scope)) {
      // Taking the protection away is a violation of its own.
      if (check === 'q10') continue
      found.checks.set(check, [...(found.checks.get(check) ?? []), of])
    }
    throw rollback
  })
  await done.catch((thrown: unknown) => {
    if (thrown !== rollback) throw thrown
  })
  return Object.fromEntries(found.checks)
}

async function unprotect(trx: Kysely<Schema>): Promise<void> {
  await allowLedgerChanges(trx)
  await sql`alter table credit_account drop constraint never_below_zero`.execute(trx)
  await sql`alter table credit_lease drop constraint spent_within_amount`.execute(trx)
  await sql`alter table usage_event drop constraint cost_is_covered`.execute(trx)
}

interface Damage {
  damage: string
  /** The checks that see it. */
  seen: CheckName[]
  /** Those that see it when they look at one account only, and at what is new, if fewer. */
  alone?: CheckName[]
  late?: CheckName[]
}

/** One damaged row each. */
const damages: Record<string, Damage> = {
  'an entry of another amount': {
    damage: `update ledger_entry set amount = amount - 1 where account_id = $me and amount < 0`,
    seen: ['q1', 'q2a', 'q2b', 'q4b'],
    // The balance after the entry still is the balance: only the sum of all entries is not.
    late: ['q1', 'q2b', 'q4b'],
  },
  'an entry that is gone': {
    damage: `delete from ledger_entry where account_id = $me and amount < 0`,
    seen: ['q1', 'q2a', 'q4b'],
    // What is left of its transaction is the house's, and leads to no account.
    alone: ['q2a', 'q4b'],
    late: ['q2a'],
  },
  'a balance': {
    damage: `update credit_account set posted = posted + 1 where id = $me`,
    seen: ['q2a'],
  },
  'a balance below zero': {
    damage: `update credit_account set posted = -1 where id = $me`,
    seen: ['q2a', 'q3', 'q7'],
  },
  'a balance after an entry': {
    damage: `update ledger_entry set balance_after = balance_after + 1
      where account_id = $me and amount > 0`,
    seen: ['q2b'],
  },
  'no balance after an entry': {
    damage: `update ledger_entry set balance_after = null where account_id = $me and amount > 0`,
    seen: ['q2b'],
  },
  'what is set aside': {
    damage: `update credit_account set leased = leased + 1 where id = $me`,
    seen: ['q3'],
  },
  'more set aside than there is': {
    damage: `update credit_account set leased = leased + 5000 where id = $me;
      update credit_lease set amount = amount + 5000 where account_id = $me`,
    seen: ['q3'],
  },
  'what a lease has spent': {
    damage: `update credit_lease set spent = spent + 1 where account_id = $me`,
    seen: ['q3', 'q4a'],
  },
  'a lease that has spent more than it had': {
    damage: `update credit_lease set amount = spent - 1 where account_id = $me`,
    seen: ['q3', 'q4a'],
  },
  'what an event took from its lease': {
    damage: `update usage_event set from_lease = 29 where account_id = $me and from_lease = 30`,
    seen: ['q4a', 'q4b'],
  },
  'an event that is gone': {
    damage: `delete from usage_event where account_id = $me and from_lease = 30`,
    seen: ['q4a', 'q4b'],
  },
  'an event without its transaction': {
    damage: `update usage_event set transaction_id = null where account_id = $me and from_lease = 30`,
    seen: ['q4b'],
  },
  'all events of a transaction gone': {
    damage: `delete from usage_event where account_id = $me`,
    seen: ['q4a', 'q4c'],
  },
  'an old lease': {
    damage: `update credit_lease set expires_at = now() - interval '61 seconds' where account_id = $me`,
    seen: ['q8'],
  },
}

describe.each(Object.entries(damages))('%s', (_name, { damage, seen, alone, late }) => {
  test('I1 I2 I3 I4 I7 I8: is reported, for its account only', async () => {
    const found = await findAfter(damage, {})
    expect(Object.keys(found).toSorted()).toEqual(seen)
    // Null where only the house is left.
    const accounts = new Set(Object.values(found).flat())
    expect([...accounts].filter((id) => id !== null)).toEqual([accountId])
  })

  test('is reported when only its account is audited', async () => {
    const found = await findAfter(damage, { accounts: [accountId] })
    expect(Object.keys(found).toSorted()).toEqual(alone ?? seen)
    const elsewhere = await findAfter(damage, { accounts: [neighbourId] })
    expect(elsewhere).toEqual({})
  })

  test('is reported by an audit of recent usage, as far as that covers it', async () => {
    const scope = { accounts: [accountId], entriesAfter: 0n, lastSeconds: 3600 }
    const found = await findAfter(damage, scope)
    expect(Object.keys(found).toSorted()).toEqual(late ?? seen)
  })
})

test('finding M17: a privilege of the owner, as a restore by pg_restore --no-acl leaves it, is not a violation', async () => {
  const found = database.query.transaction().execute(async (trx) => {
    await sql`grant all on ledger_entry, ledger_transaction to current_user`.execute(trx)
    const violations = await findViolations(trx, {})
    await expect(sql`delete from ledger_entry`.execute(trx)).rejects.toThrow('append-only')
    throw new Error(`found ${violations.length}`)
  })
  await expect(found).rejects.toThrow(/^found 0$/)
})

describe('I10: the ledger could be changed', () => {
  test.each([
    'alter table ledger_entry disable trigger append_only',
    'drop trigger append_only on ledger_transaction',
    'grant update on ledger_entry to pg_monitor',
    'grant delete on ledger_transaction to public',
  ])('%s', async (statement) => {
    const found = database.query.transaction().execute(async (trx) => {
      await sql.raw(statement).execute(trx)
      const violations = await findViolations(trx, {})
      throw new Error(violations.map(({ check }) => check).join(' '))
    })
    await expect(found).rejects.toThrow(/^q10$/)
  })
})

test('reports nothing about a consistent ledger, in any scope', async () => {
  const { query } = database
  expect(await findViolations(query, {})).toEqual([])
  const accounts = [accountId, neighbourId]
  expect(await findViolations(query, { accounts, entriesAfter: 0n, lastSeconds: 3600 })).toEqual([])
  expect(await count(query)).toEqual({
    accounts: 2n,
    transactions: 4n,
    entries: 8n,
    leases: 2n,
    events: 4n,
    writtenOff: 0n,
  })
})

test('I3: warns about a lease that no request has used for long', async () => {
  const { query } = database
  expect((await lookForWarnings(query, 1000)).idle).toEqual([])
  const warned = query.transaction().execute(async (trx) => {
    await sql`
      update credit_lease set created_at = created_at - interval '5 minutes'
      where account_id = ${accountId}`.execute(trx)
    await sql`
      update usage_event set started_at = started_at - interval '3 minutes'
      where account_id = ${accountId}`.execute(trx)
    const { idle } = await lookForWarnings(trx, 60_000)
    throw new Error(idle.map((lease) => `${lease.accountId} ${lease.unspent}`).join())
  })
  await expect(warned).rejects.toThrow(`${accountId} 50`)
})
