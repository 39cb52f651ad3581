import { sql, type Kysely, type Transaction } from 'kysely'
import { allocateCharge, type Allocation } from './allocate'
import { sumEarnings, type Earning } from './earnings'
import { dropOrphans } from './drop-orphans'
import { insertEvents, type BookedRecord } from './insert-events'
import { AlreadyBooked, insertNew, type BookableEvent } from './insert-new'
import {
  storeBooking,
  type BookedAccount,
  type FirstOf,
  type LockedLease,
  type LockedRows,
} from './store-booking'
import { takeFromLeases } from './take-from-leases'
import { readRecord, type Charge } from './charge'
import { generateIdBody } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'

type Db = Transaction<Schema>

const noWriteOffs: WrittenOff = new Map()
const allFromLeases: Booked = { areNew: true, revived: false, writtenOff: noWriteOffs }
const noAllocation: Allocation = { fromLease: 0n, fromBalance: 0n, writtenOff: 0n }

/** The amounts that the house bears, by event id, in nano-dollars; events without such an amount are absent. */
export type WrittenOff = ReadonlyMap<string, bigint>

/** The outcome of a booked batch. */
export interface Booked {
  /** Whether none of them was there before, for certain. */
  areNew: boolean
  /** Whether some of them had been recorded as dead. */
  revived: boolean
  writtenOff: WrittenOff
}

interface Settling {
  /**
   * Inserts events by `COPY`, at half of the cost to the database and two round trips more while the accounts are locked.
   * True by default.
   */
  canCopy?: boolean
  /** Runs in the same transaction, after the events. */
  inTransaction?: ((trx: Db, booking: Booked) => Promise<void>) | undefined
  /** Called when all is written. */
  beforeCommit?: (() => void) | undefined
}

/**
 * Books a batch of usage events, or records of them, in one transaction, each once: an event that is already
 * there is left out, so that a batch whose commit went unanswered is sent again as it is (M30, I4, I20). Locks
 * accounts, then leases, each in the order of their ids. Resolves with what the house bears of them.
 */
export async function settle(
  db: Kysely<Schema>,
  events: readonly (string | BookableEvent)[],
  { canCopy = true, inTransaction, beforeCommit }: Settling = {},
): Promise<WrittenOff> {
  if (events.length === 0) return noWriteOffs
  const batch = events.map((event) => (typeof event === 'string' ? readRecord(event) : event))
  const book = (isBatched: boolean) =>
    db.transaction().execute(async (trx) => {
      const lockedRows = await lock(trx, batch)
      const taking = isBatched ? bookFromLeases(trx, batch, { ...lockedRows, canCopy }) : undefined
      const booking = await (taking ?? bookOneByOne(trx, batch, lockedRows))
      await inTransaction?.(trx, booking)
      beforeCommit?.()
      return booking.writtenOff
    })
  try {
    return await book(true)
  } catch (thrown) {
    if (!(thrown instanceof AlreadyBooked)) throw thrown
    return await book(false)
  }
}

async function lock(trx: Db, batch: readonly BookableEvent[]): Promise<LockedRows> {
  const payableCharges = batch.map(({ charge }) => charge).filter(({ cost }) => cost > 0n)
  return {
    accounts: await lockAccounts(trx, payableCharges),
    leases: await lockLeases(trx, payableCharges),
  }
}

/**
 * Books a batch as a whole where the leases pay for all of it, as they do in the steady state; then none of it
 * had been recorded as dead. Undefined where they do not; rejects with `AlreadyBooked`.
 */
function bookFromLeases(
  trx: Db,
  batch: readonly BookableEvent[],
  { canCopy, ...lockedRows }: LockedRows & { canCopy: boolean },
): Promise<Booked> | undefined {
  const charges = batch.map(({ charge }) => charge)
  if (!takeFromLeases(charges, lockedRows.accounts, lockedRows.leases)) return undefined
  const first = findFirstIds(charges, ({ accountId, cost }) => (cost > 0n ? accountId : null))
  const storing = store(trx, lockedRows, {
    earnings: sumEarnings(
      charges.filter(({ payeeId }) => payeeId !== null).map((charge) => [charge, charge.cost]),
    ),
    firstOf: ({ id }) => first.get(id),
    insert: () => insertNew(trx, batch, { accounts: [...lockedRows.accounts.values()], canCopy }),
  })
  return storing.then(() => allFromLeases)
}

/** Returns the id of the first in each group, by the name of the group. */
function findFirstIds<One extends { id: string }>(
  all: readonly One[],
  nameOf: (one: One) => string | null,
): Map<string, string> {
  const first = new Map<string, string>()
  for (const one of all) {
    const name = nameOf(one)
    if (name !== null && !first.has(name)) first.set(name, one.id)
  }
  return first
}

/** Keeps each attempt once; where one was also recorded as dead, the settlement. */
function distinct(events: readonly BookableEvent[]): BookableEvent[] {
  const byId = new Map<string, BookableEvent>()
  for (const event of events) {
    const knownEvent = byId.get(event.charge.id)
    if (!knownEvent || (knownEvent.charge.isOrphan && !event.charge.isOrphan))
      byId.set(event.charge.id, event)
  }
  return [...byId.values()]
}

async function bookOneByOne(
  trx: Db,
  events: readonly BookableEvent[],
  lockedRows: LockedRows,
): Promise<Booked> {
  const batch = distinct(events)
  const knownEvents = await findBooked(
    trx,
    batch.map(({ charge }) => charge),
  )
  const fresh = batch.filter(({ charge }) => !knownEvents.has(charge.id))
  const alive = batch.filter(
    ({ charge }) => !charge.isOrphan && knownEvents.get(charge.id)?.state === 'orphan',
  )
  if (alive.length > 0) {
    await dropOrphans(
      trx,
      alive.map(({ charge }) => charge.id),
    )
    fresh.push(...alive)
  }
  const bookedEvents = fresh.map(({ record, charge }) => ({
    record,
    charge,
    ...toBooked(charge, lockedRows.accounts, lockedRows.leases),
  }))
  const payments = bookedEvents.map(({ charge, transactionId }) => ({
    id: charge.id,
    transactionId,
  }))
  const first = findFirstIds(payments, ({ transactionId }) => transactionId)
  await store(trx, lockedRows, {
    earnings: sumEarnings(
      bookedEvents.map(({ charge, allocation: { fromLease, fromBalance } }) => [
        charge,
        fromLease + fromBalance,
      ]),
    ),
    firstOf: ({ transactionId }) => first.get(transactionId),
    insert: () => insertEvents(trx, bookedEvents),
  })
  return {
    areNew: false,
    revived: alive.length > 0,
    writtenOff: writtenOffOf(bookedEvents, knownEvents),
  }
}

/** Includes events that were there before: a request may wait for the answer that the first commit lost. */
function writtenOffOf(
  bookedEvents: readonly { charge: Charge; allocation: Allocation }[],
  knownEvents: ReadonlyMap<string, Known>,
): WrittenOff {
  const all = [
    ...[...knownEvents.values()].map(({ id, written_off }) => [id, written_off] as const),
    ...bookedEvents.map(({ charge, allocation }) => [charge.id, allocation.writtenOff] as const),
  ]
  return new Map(all.filter(([, amount]) => amount > 0n))
}

interface Booking {
  earnings: readonly Earning[]
  firstOf: FirstOf
  insert: () => Promise<void>
}

async function store(
  trx: Db,
  { accounts, leases }: LockedRows,
  { earnings, firstOf, insert }: Booking,
) {
  // Runs first, as it may find that some were booked before.
  await insert()
  await storeBooking(trx, { accounts, leases }, { earnings, firstOf })
}

function collectIds(charges: readonly Charge[], of: (charge: Charge) => string | null): string[] {
  const ids = new Set<string>()
  for (const charge of charges) {
    const id = of(charge)
    if (id !== null) ids.add(id)
  }
  return [...ids]
}

async function lockAccounts(trx: Db, charges: readonly Charge[]) {
  const payers = collectIds(charges, ({ accountId }) => accountId)
  const payees = collectIds(charges, ({ payeeId }) => payeeId)
  const ids = payees.length > 0 ? [...new Set([...payers, ...payees])] : payers
  const { rows } = await sql<{ id: string; posted: bigint; leased: bigint }>`
    select id, posted, leased from credit_account
    where id = any(${ids}::text[]) order by id for update`.execute(trx)
  return new Map<string, BookedAccount>(
    rows.map((row) => [
      row.id,
      { ...row, before: row.posted, transactionId: `txn_${generateIdBody()}` },
    ]),
  )
}

async function lockLeases(trx: Db, charges: readonly Charge[]) {
  const ids = collectIds(charges, ({ leaseId }) => leaseId)
  const { rows } = await sql<LockedLease>`
    select id, amount, spent from credit_lease
    where id = any(${ids}::text[]) and state = 'active' order by id for update`.execute(trx)
  return new Map(rows.map((row) => [row.id, row]))
}

/** An event that is already in the ledger. */
interface Known {
  id: string
  state: string
  written_off: bigint
}

async function findBooked(trx: Db, charges: readonly Charge[]) {
  // As one text: the driver writes lists item by item.
  const ids = charges.map(({ id }) => id).join(' ')
  // ISO 8601 in UTC sorts as text.
  const times = charges.map(({ startedAt }) => startedAt)
  const first = times.reduce((a, b) => (a < b ? a : b))
  const last = times.reduce((a, b) => (a > b ? a : b))
  // An event sent again has the same start: the partitions of other days need not be read.
  const { rows } = await sql<Known>`
    select id, state, written_off from usage_event
    where id = any(string_to_array(${ids}, ' '))
      and started_at between ${first}::timestamptz and ${last}::timestamptz
  `.execute(trx)
  return new Map(rows.map((row) => [row.id, row]))
}

function toBooked(
  charge: Charge,
  accounts: ReadonlyMap<string, BookedAccount>,
  leases: ReadonlyMap<string, LockedLease>,
): Omit<BookedRecord, 'record'> {
  const { cost, accountId, leaseId } = charge
  const account = cost > 0n && accountId !== null ? accounts.get(accountId) : undefined
  // An account that is gone leaves its last cost to the house.
  if (!account) return { allocation: { ...noAllocation, writtenOff: cost }, transactionId: null }
  const lease = leaseId === null ? undefined : leases.get(leaseId)
  const allocation = allocateCharge(charge, account, lease)
  const isCharged = allocation.fromLease + allocation.fromBalance > 0n
  return { allocation, transactionId: isCharged ? account.transactionId : null }
}
