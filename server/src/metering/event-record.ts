import type { UsageEvent } from '../ledger/usage-event'

/** A usage event as the journal keeps it: JSON, amounts as decimal text, times as ISO 8601. */
export const toRecord = (event: UsageEvent): string =>
  JSON.stringify({ ...event, cost: String(event.cost), fromLease: String(event.fromLease) })

type Recorded = Omit<UsageEvent, 'cost' | 'fromLease' | 'startedAt'> & {
  cost: string
  fromLease: string
  startedAt: string
}

/** Reads what `toRecord` wrote; the journal has held its checksum against it. */
export function fromRecord(text: string): UsageEvent {
  const recorded = JSON.parse(text) as Recorded
  return {
    ...recorded,
    cost: BigInt(recorded.cost),
    fromLease: BigInt(recorded.fromLease),
    startedAt: new Date(recorded.startedAt),
  }
}
