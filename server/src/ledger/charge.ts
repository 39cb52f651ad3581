import type { SummedUsage } from './sum-usage'
import type { UsageEvent } from './usage-event'
import { countsOf, indexOf, isShort, shortColumns, textOrNull, valuesOf } from './usage-record'
import { tokenColumns } from './usage-sums'

/** The part of a usage event that booking needs; amounts in nano-dollars. */
export interface Charge {
  id: string
  /** ISO 8601, in UTC. */
  startedAt: string
  accountId: string | null
  leaseId: string | null
  cost: bigint
  fromLease: bigint
  /** The account that earns what is paid, less the platform's fee; null where that is the house. */
  payeeId: string | null
  feeMillionths: number
  /** Set where its process died, or seems to have. */
  isOrphan: boolean
  /** The fields that its sums need, where its record has the columns of `shortColumns`. */
  usage: SummedUsage | undefined
}

const modeIndex = indexOf('billing_mode')
const organizationIndex = indexOf('organization_id')
const feeIndex = indexOf('fee_millionths')
const endColumns = indexOf('id')
const userIndex = indexOf('user_id')
const keyIndex = indexOf('key_id')
const modelIndex = indexOf('model')
const outcomeIndex = indexOf('outcome')
const durationIndex = indexOf('duration_ms')
const tokensIndex = indexOf('input_tokens')

/** Returns the charge of an event that was just made. */
export const toCharge = (event: UsageEvent): Charge => ({
  id: event.id,
  startedAt: event.startedAt,
  accountId: event.accountId,
  leaseId: event.leaseId,
  cost: event.cost,
  fromLease: event.fromLease,
  payeeId: payeeOf(event.billingMode, event.organizationId),
  feeMillionths: event.feeMillionths ?? 0,
  isOrphan: event.state === 'orphan',
  usage: isShort(event) ? usageOf(event) : undefined,
})

const usageOf = (event: UsageEvent): SummedUsage => ({
  userId: event.userId,
  keyId: event.keyId,
  model: event.model,
  organizationId: event.organizationId,
  outcome: event.outcome,
  durationMs: event.durationMs,
  tokens: countsOf(event.tokens),
})

/** Only a member pays the organization; its own payments go to the house. */
const payeeOf = (mode: unknown, organizationId: string | null) =>
  mode === 'member_pays' ? organizationId : null

/** Returns a record and its charge. Throws as `chargeOf`. */
export const readRecord = (record: string): { record: string; charge: Charge } => ({
  record,
  charge: chargeOf(record),
})

/** Reads the charge of a record. Throws on what `toRecord` did not write: a charge is never guessed at. */
export function chargeOf(record: string): Charge {
  const values = valuesOf(record)
  const [cost, fromLease, leaseId, state] = values
  const [id, startedAt, accountId] = values.slice(endColumns)
  const fee = values[feeIndex]
  if (
    typeof id !== 'string' ||
    typeof startedAt !== 'string' ||
    typeof cost !== 'string' ||
    typeof fromLease !== 'string'
  ) {
    throw new Error('the journal holds what is no usage event')
  }
  return {
    id,
    startedAt,
    accountId: textOrNull(accountId),
    leaseId: textOrNull(leaseId),
    cost: BigInt(cost),
    fromLease: BigInt(fromLease),
    payeeId: payeeOf(values[modeIndex], textOrNull(values[organizationIndex])),
    feeMillionths: typeof fee === 'number' ? fee : 0,
    isOrphan: state === 'orphan',
    usage: values.length === shortColumns.length ? usageIn(values) : undefined,
  }
}

function usageIn(values: readonly unknown[]): SummedUsage | undefined {
  const [userId, keyId] = [textOrNull(values[userIndex]), textOrNull(values[keyIndex])]
  const [model, outcome] = [textOrNull(values[modelIndex]), textOrNull(values[outcomeIndex])]
  const durationMs = values[durationIndex]
  const tokens = values.slice(tokensIndex, tokensIndex + tokenColumns.length).filter(isNumber)
  if (tokens.length < tokenColumns.length || typeof durationMs !== 'number') return undefined
  if (userId === null || keyId === null || model === null || outcome === null) return undefined
  const organizationId = textOrNull(values[organizationIndex])
  return { userId, keyId, model, organizationId, outcome, durationMs, tokens }
}

const isNumber = (value: unknown): value is number => typeof value === 'number'
