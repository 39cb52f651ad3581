import { sql, type Kysely, type Transaction } from 'kysely'
import { allocate, type AccountState, type Allocation, type LeaseState } from './allocate'
import { insertEvents, type BookedEvent } from './insert-events'
import type { UsageEvent } from './usage-event'
import { newIdBody } from '../db/id'
import type { Schema } from '../db/schema'

type Db = Transaction<Schema>

const nothing: Allocation = { fromLease: 0n, fromBalance: 0n, writtenOff: 0n }

/**
 * Books a batch of usage events in one transaction, each once: an event that is already there falls
 * out, so that a batch whose commit went unanswered is sent again as it is (M30, I4, I20). Locks
 * accounts, then leases, each in the order of their ids.
 */
export async function settle(db: Kysely<Schema>, batch: readonly UsageEvent[]): Promise<void> {
  if (batch.length === 0) return
  await db.transaction().execute(async (trx) => {
    const charged = batch.filter(({ cost }) => cost > 0n)
    const accounts = await lockAccounts(trx, charged)
    const leases = await lockLeases(trx, charged)
    const known = await knownIds(trx, batch)
    const fresh = batch.filter(({ id }) => !known.has(id))
    const booked = fresh.map((event) => toBooked(event, accounts, leases))
    await bookTransactions(trx, booked, accounts)
    await insertEvents(trx, booked)
    await storeAccounts(trx, accounts)
    await storeLeases(trx, leases)
  })
}

interface LockedAccount extends AccountState {
  id: string
  /** The balance before this batch. */
  before: bigint
  transactionId: string
}

interface LockedLease extends LeaseState {
  id: string
}

const idsOf = (events: readonly UsageEvent[], of: (event: UsageEvent) => string | null) => [
  ...new Set(events.flatMap((event) => of(event) ?? [])),
]

async function lockAccounts(trx: Db, events: readonly UsageEvent[]) {
  const ids = idsOf(events, ({ accountId }) => accountId)
  const { rows } = await sql<{ id: string; posted: bigint; leased: bigint }>`
    select id, posted, leased from credit_account
    where id = any(${ids}::text[]) order by id for update`.execute(trx)
  return new Map<string, LockedAccount>(
    rows.map((row) => [
      row.id,
      { ...row, before: row.posted, transactionId: `txn_${newIdBody()}` },
    ]),
  )
}

async function lockLeases(trx: Db, events: readonly UsageEvent[]) {
  const ids = idsOf(events, ({ leaseId }) => leaseId)
  const { rows } = await sql<LockedLease>`
    select id, amount, spent from credit_lease
    where id = any(${ids}::text[]) and state = 'active' order by id for update`.execute(trx)
  return new Map(rows.map((row) => [row.id, row]))
}

async function knownIds(trx: Db, events: readonly UsageEvent[]) {
  const ids = events.map(({ id }) => id)
  const times = events.map(({ startedAt }) => startedAt.getTime())
  // An event sent again has the same start: the partitions of other days need not be looked into.
  const { rows } = await sql<{ id: string }>`
    select id from usage_event
    where id = any(${ids}::text[])
      and started_at between ${new Date(Math.min(...times))} and ${new Date(Math.max(...times))}
  `.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

function toBooked(
  event: UsageEvent,
  accounts: ReadonlyMap<string, LockedAccount>,
  leases: ReadonlyMap<string, LockedLease>,
): BookedEvent {
  const account = event.cost > 0n && event.accountId ? accounts.get(event.accountId) : undefined
  if (!account) {
    // Nobody to charge: an account that is gone leaves its last cost to the house.
    return { event, allocation: { ...nothing, writtenOff: event.cost }, transactionId: null }
  }
  const lease = event.leaseId ? leases.get(event.leaseId) : undefined
  const allocation = allocate(event, account, lease)
  const isCharged = allocation.fromLease + allocation.fromBalance > 0n
  return { event, allocation, transactionId: isCharged ? account.transactionId : null }
}

/** One ledger transaction an account and batch: what it pays, and the house's revenue. */
async function bookTransactions(
  trx: Db,
  booked: readonly BookedEvent[],
  accounts: ReadonlyMap<string, LockedAccount>,
): Promise<void> {
  const paying = [...accounts.values()].filter(({ posted, before }) => posted !== before)
  if (paying.length === 0) return
  const firstOf = (transactionId: string) =>
    booked.find((one) => one.transactionId === transactionId)?.event.id ?? transactionId
  const ids = paying.map(({ transactionId }) => transactionId)
  const refs = paying.map(({ transactionId }) => `usage:${firstOf(transactionId)}`)
  const paid = paying.map(({ before, posted }) => before - posted)
  await sql`
    insert into ledger_transaction (id, kind, external_ref, description)
    select id, 'usage', ref, 'Usage' from unnest(${ids}::text[], ${refs}::text[]) as t (id, ref)
  `.execute(trx)
  await sql`
    insert into ledger_entry (transaction_id, account_id, amount, balance_after)
    select id, account_id, -paid, posted
    from unnest(
      ${ids}::text[], ${paying.map(({ id }) => id)}::text[],
      ${paid}::bigint[], ${paying.map(({ posted }) => posted)}::bigint[]
    ) as t (id, account_id, paid, posted)
    union all
    select id, 'house:revenue', paid, null
    from unnest(${ids}::text[], ${paid}::bigint[]) as t (id, paid)`.execute(trx)
}

async function storeAccounts(trx: Db, accounts: ReadonlyMap<string, LockedAccount>) {
  const all = [...accounts.values()]
  await sql`
    update credit_account set posted = t.posted, leased = t.leased
    from unnest(
      ${all.map(({ id }) => id)}::text[],
      ${all.map(({ posted }) => posted)}::bigint[], ${all.map(({ leased }) => leased)}::bigint[]
    ) as t (id, posted, leased)
    where credit_account.id = t.id`.execute(trx)
}

async function storeLeases(trx: Db, leases: ReadonlyMap<string, LockedLease>) {
  const all = [...leases.values()]
  if (all.length === 0) return
  await sql`
    update credit_lease set spent = t.spent
    from unnest(${all.map(({ id }) => id)}::text[], ${all.map(({ spent }) => spent)}::bigint[])
      as t (id, spent)
    where credit_lease.id = t.id`.execute(trx)
}
