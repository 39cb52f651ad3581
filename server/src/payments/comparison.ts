import { sql, type Kysely } from 'kysely'
import { findDifferences, type PaymentDifference } from './differences'
import type { PaymentAmounts, Processor } from './processor'
import { notifyOperators } from './notify-payer'
import type { Schema } from '../platform/db/schema'

interface Options {
  db: Kysely<Schema>
  processor: Pick<Processor, 'list' | 'statement'>
  nowMs: () => number
  /** The interval between comparisons, across all nodes. */
  everyMs: number
}

/** The outcome of a comparison between the processor's lists and the ledger. */
export interface Comparison {
  /** The differences that have not been reported before. */
  found: PaymentDifference[]
  /** False where the time ran out before the end. */
  isComplete: boolean
}

const dayMs = 86_400_000
/** A refund may fail a month after it was made, and a dispute is lost after months. */
const days = { payments: 8, refunds: 40, disputes: 130, entries: 8 }
/** Only older differences are reported: an event may still be on its way. */
const settledMs = 3_600_000
const maxMs = 300_000
/** The most payments that one comparison queries by id. */
const maxLookups = 500
/** After a failure. */
const retrySeconds = 3600

/**
 * Compares the processor's movements with the ledger (I9), and records differences. One node does it, once in
 * `everyMs`; undefined for the others. Rejects where the processor, or the database, does not answer: it is
 * retried in an hour.
 * The lists only raise a suspicion, as lines at their edges belong to payments beyond them. A suspected payment
 * is queried by its id.
 */
export async function comparePayments(options: Options): Promise<Comparison | undefined> {
  const { db, everyMs } = options
  if (!(await isDue(db, everyMs))) return undefined
  try {
    return await compare(options)
  } catch (thrown) {
    const soon = Math.max(0, everyMs / 1000 - retrySeconds)
    await sql`
      update payment_comparison set ran_at = now() - make_interval(secs => ${soon})`.execute(db)
    throw thrown
  }
}

async function isDue(db: Kysely<Schema>, everyMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update payment_comparison set ran_at = now()
    where ran_at <= now() - make_interval(secs => ${everyMs / 1000})`.execute(db)
  return numAffectedRows === 1n
}

async function compare({ db, processor, nowMs }: Options): Promise<Comparison> {
  const endsMs = nowMs() + maxMs
  const hasTime = () => nowMs() < endsMs
  const { listed, isComplete: isListed } = await lists(processor, hasTime)
  const suspects = await findSuspects(db, listed)
  const stated = new Map<string, PaymentAmounts>()
  let lookups = 0
  for (const ref of suspects) {
    if (lookups === maxLookups || !hasTime()) break
    lookups += 1
    const { latest, ...moved } = await processor.statement(ref)
    if (latest.getTime() <= Date.now() - settledMs) stated.set(ref, moved)
  }
  // Read again, and last: a movement in between is no finding.
  const booked = await bookedFor(db, [...stated.keys()])
  const findings = [...stated].flatMap(([ref, moved]) =>
    findDifferences(ref, moved, booked.get(ref) ?? noFindings),
  )
  const differences = await note(db, findings)
  return { found: differences, isComplete: isListed && lookups === suspects.length }
}

const noFindings: PaymentAmounts = { paid: 0n, refunded: 0n, disputed: 0n }

interface Lines extends PaymentAmounts {
  isOurs: boolean
}

/** Sums the listed movements by payment. */
async function lists(processor: Options['processor'], hasTime: () => boolean) {
  const now = Date.now()
  const before = (count: number) => new Date(now - count * dayMs)
  const listed = new Map<string, Lines>()
  const since = {
    payments: before(days.payments),
    refunds: before(days.refunds),
    disputes: before(days.disputes),
  }
  const looking = { since, until: new Date(now - settledMs), hasTime }
  const isComplete = await processor.list(looking, ({ paymentRef, ...line }) => {
    const knownFindings = listed.get(paymentRef) ?? { ...noFindings, isOurs: false }
    listed.set(paymentRef, {
      paid: knownFindings.paid + line.paid,
      refunded: knownFindings.refunded + line.refunded,
      disputed: knownFindings.disputed + line.disputed,
      isOurs: knownFindings.isOurs || line.isOurs,
    })
  })
  return { listed, isComplete }
}

/** Returns our payments for which the lists differ from the ledger. */
async function findSuspects(db: Kysely<Schema>, listed: ReadonlyMap<string, Lines>) {
  const recent = await recentlyBooked(db)
  const booked = await bookedFor(db, [...listed.keys(), ...recent.keys()])
  return [...new Set([...listed.keys(), ...recent.keys()])].filter((ref) => {
    const has = booked.get(ref)
    const lines = listed.get(ref) ?? { ...noFindings, isOurs: false }
    // The processor's account may also sell other things.
    if (!has && !lines.isOurs) return false
    // One that was booked long ago is on no list.
    const isListed = lines.paid > 0n || recent.get(ref) === true
    const claimed = { ...lines, paid: isListed ? lines.paid : (has?.paid ?? 0n) }
    return findDifferences(ref, claimed, has ?? noFindings).length > 0
  })
}

/** Entries of money from the processor, or back to it, with their payments. */
const entries = sql`
  select e.amount, e.created_at, t.kind, coalesce(r.payment_ref, t.external_ref) as ref
  from ledger_entry as e join ledger_transaction as t on t.id = e.transaction_id
  left join payment_reversal as r
    on t.kind <> 'topup' and r.id = split_part(t.external_ref, ':', 1)
  where e.account_id = 'house:topup' and t.kind in ('topup', 'refund', 'dispute')`

/** Returns payments whose money moved in these days, and whether they were credited then. */
async function recentlyBooked(db: Kysely<Schema>): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ ref: string; isCredited: boolean }>`
    select ref, bool_or(kind = 'topup') as "isCredited" from (${entries}) as entry
    where created_at > now() - make_interval(days => ${days.entries}) group by ref`.execute(db)
  return new Map(rows.map(({ ref, isCredited }) => [ref, isCredited]))
}

async function bookedFor(
  db: Kysely<Schema>,
  refs: readonly string[],
): Promise<Map<string, PaymentAmounts>> {
  if (refs.length === 0) return new Map()
  const { rows } = await sql<PaymentAmounts & { ref: string }>`
    select ref,
      coalesce(-sum(amount) filter (where kind = 'topup'), 0)::bigint as paid,
      coalesce(sum(amount) filter (where kind = 'refund'), 0)::bigint as refunded,
      coalesce(sum(amount) filter (where kind = 'dispute'), 0)::bigint as disputed
    from (${entries}) as entry where ref = any(${refs}::text[]) group by ref`.execute(db)
  return new Map(rows.map(({ ref, ...moved }) => [ref, moved]))
}

/** Records findings, notifies operators of new ones, and resolves with those. */
const note = (
  db: Kysely<Schema>,
  findings: readonly PaymentDifference[],
): Promise<PaymentDifference[]> =>
  db.transaction().execute(async (trx) => {
    const old = sql`now() - make_interval(days => ${days.disputes})`
    await sql`delete from payment_finding where seen_at < ${old}`.execute(trx)
    const fresh: PaymentDifference[] = []
    for (const finding of findings) {
      const { paymentRef: payment_ref, ...rest } = finding
      const isNew = await trx
        .insertInto('payment_finding')
        .values({ payment_ref, ...rest })
        .onConflict((conflict) => conflict.doNothing())
        .returning('kind')
        .executeTakeFirst()
      if (isNew) fresh.push(finding)
      else await updateFinding(trx, finding)
    }
    if (fresh.length > 0) await notifyOperators(trx, fresh)
    return fresh
  })

const updateFinding = (
  trx: Kysely<Schema>,
  { paymentRef, kind, claimed, booked }: PaymentDifference,
) =>
  trx
    .updateTable('payment_finding')
    .set({ seen_at: new Date() })
    .where('payment_ref', '=', paymentRef)
    .where('kind', '=', kind)
    .where('claimed', '=', claimed)
    .where('booked', '=', booked)
    .execute()
