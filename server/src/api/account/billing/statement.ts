import type { Kysely, Transaction } from 'kysely'
import type { BilledAccount } from './billed-account'
import type { Intervals } from './intervals'
import { listDates, monthAt, readMonth } from './statement-month'
import type { BillingStatement, StatementFilter, StatementLineType } from './statement-schema'
import {
  countFree,
  readAccount,
  readMovements,
  readUsage,
  splitUsage,
  sumMovementsSince,
  sumUsageSince,
  type ModelUsage,
  type Movement,
} from './statement-sources'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { toPaidAmount } from '../../../http/payer'
import { readPaidParts } from '../../../ledger/usage-cost'
import type { Schema } from '../../../platform/db/schema'

/** The usage of one day that a balance paid: of models that cost something. */
type DayUsage = Pick<ModelUsage, 'requests' | 'input' | 'output' | 'cost'> & {
  /** By cost, highest first. */
  models: ModelUsage[]
}

/** A line of a statement. Amounts are nano-dollars. */
export interface StatementLine {
  type: StatementLineType
  /** A day in the statement's time zone. */
  date: string
  /** Null for the sums of a day. */
  at: Date | null
  description: string
  transactionId: string | null
  referenceId: string | null
  amount: bigint
  /** The balance after this line. */
  balance: bigint
  usage: DayUsage | null
}

/** The statement of a balance for a month. Amounts are nano-dollars. */
export interface MonthStatement extends Pick<
  BillingStatement,
  'organization_id' | 'month' | 'period' | 'in_progress' | 'first_month' | 'other_payers'
> {
  opening: bigint
  closing: bigint
  lines: StatementLine[]
  uncharged: bigint
}

interface Reading {
  filter: Pick<StatementFilter, 'month' | 'time_zone'>
  nowMs: number
}

/**
 * Reads the statement of a balance for a month. Usage is a line a day, from the sums of usage, and counts on the day on
 * which its requests began; everything else is a line of its own. The opening balance is the balance of now without what
 * happened since, so that opening balance and lines always make the closing balance. Rejects with `invalid_request` for a
 * month to come, and for a time zone that the sums do not have. Source: contract 6.7.
 */
export async function readStatement(
  db: Kysely<Schema>,
  account: BilledAccount,
  { filter: { month: requested, time_zone: zone }, nowMs }: Reading,
): Promise<MonthStatement> {
  const month = requested ?? monthAt(zone, nowMs)
  const intervals = await readMonth(db, { month, time_zone: zone }, nowMs)
  const { starts, end } = intervals
  const start = starts[0] ?? end
  // One snapshot: what is booked in between would be in one sum and not in another.
  const sources = await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((trx) => readSources(trx, account, { start, intervals }))
  const { posted, usage, movements, later, others, free } = sources
  const changes = toChanges(listDates(month), usage, movements)
  const closing = posted - later
  const opening = closing - changes.reduce((sum, { amount }) => sum + amount, 0n)
  const charged = usage.filter(({ cost }) => cost > 0n)
  const uncharged = usage.reduce((sum, { requests }) => sum + requests, free) - requestsOf(charged)
  return {
    organization_id: account.organizationId,
    month,
    period: { start: toTimestamp(start), end: toTimestamp(end), time_zone: zone },
    in_progress: end.getTime() > nowMs,
    first_month: monthAt(zone, sources.createdAt.getTime()),
    opening,
    closing,
    lines: withBalances(opening, changes),
    other_payers: others.filter(({ payer }) => payer !== 'personal').map(toPaidAmount),
    uncharged,
  }
}

async function readSources(
  trx: Transaction<Schema>,
  account: BilledAccount,
  { start, intervals }: { start: Date; intervals: Intervals },
) {
  const { end, grain } = intervals
  const table = splitUsage(intervals)
  const row = await readAccount(trx, account)
  if (!row) throw new ApiError('resource_not_found')
  const usage = await readUsage(trx, account, intervals)
  const movements = await readMovements(trx, account, intervals)
  const laterUsage = await sumUsageSince(trx, account, end)
  const laterMovements = await sumMovementsSince(trx, account, end)
  const others =
    account.organizationId === null
      ? await readPaidParts(trx, { userId: account.id }, { grain, start, end, table })
      : []
  return {
    posted: row.posted,
    createdAt: row.created_at,
    usage,
    movements,
    later: laterMovements - laterUsage,
    others,
    free: await countFree(trx, account, intervals),
  }
}

type Change = Omit<StatementLine, 'balance'>

const typeOf = (kind: string): StatementLineType => {
  switch (kind) {
    case 'topup':
      return 'purchase'
    case 'bonus':
    case 'refund':
    case 'dispute':
    case 'earnings':
      return kind
    default:
      return 'adjustment'
  }
}

/** Joins what moved the balance, ascending by day: a day's usage comes last. */
function toChanges(
  dates: readonly string[],
  usage: readonly ModelUsage[],
  movements: readonly Movement[],
): Change[] {
  const usageByDay = Map.groupBy(
    usage.filter(({ cost }) => cost > 0n),
    ({ day }) => day,
  )
  const movementsByDay = Map.groupBy(movements, ({ day }) => day)
  return dates.flatMap((date, index) => {
    const models = usageByDay.get(index + 1)
    const moved = movementsByDay.get(index + 1) ?? []
    const changes = moved.map((movement) => toChange(date, movement))
    return models ? [...changes, usageLine(date, models)] : changes
  })
}

const toChange = (date: string, movement: Movement): Change => ({
  type: typeOf(movement.kind),
  date,
  at: movement.created_at,
  description: movement.description,
  transactionId: movement.transaction_id,
  referenceId: movement.reference,
  amount: movement.amount,
  usage: null,
})

const requestsOf = (usage: readonly ModelUsage[]) =>
  usage.reduce((sum, { requests }) => sum + requests, 0n)

/** Sums the usage of several models. */
export const sumModels = (models: readonly ModelUsage[]) => ({
  requests: requestsOf(models),
  input: models.reduce((sum, { input }) => sum + input, 0n),
  output: models.reduce((sum, { output }) => sum + output, 0n),
  cost: models.reduce((sum, { cost }) => sum + cost, 0n),
})

function usageLine(date: string, models: ModelUsage[]): Change {
  const sums = sumModels(models)
  return {
    type: 'usage',
    date,
    at: null,
    description: 'Usage',
    transactionId: null,
    referenceId: null,
    amount: -sums.cost,
    usage: { ...sums, models },
  }
}

function withBalances(opening: bigint, changes: readonly Change[]): StatementLine[] {
  let balance = opening
  return changes.map((change) => {
    balance += change.amount
    return { ...change, balance }
  })
}
