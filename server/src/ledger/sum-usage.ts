/** The fields of a usage event that its sums need. */
export interface SummedUsage {
  userId: string
  keyId: string
  model: string
  organizationId: string | null
  outcome: string
  durationMs: number
  /** Of the columns of `tokenColumns`, in their order. */
  tokens: readonly number[]
}

/** A usage event to be summed: paid by `accountId`, begun at `startedAt` (ISO 8601, in UTC), at a cost in nano-dollars. */
export interface SummedEvent {
  startedAt: string
  accountId: string | null
  cost: bigint
  usage: SummedUsage
}

/** The usage of one minute by payer, user, key, model and organization. Tokens as those of `SummedUsage`. */
export interface MinuteSum {
  /** `2026-11-27T17:40`, in UTC. */
  minute: string
  accountId: string
  userId: string
  keyId: string
  model: string
  organizationId: string | null
  events: number
  failures: number
  cancellations: number
  tokens: number[]
  durationMs: number
  cost: bigint
}

const minuteLength = '2026-11-27T17:40'.length

/** Sums usage events by minute: as `insert-events.ts` does in SQL. */
export function sumUsage(events: readonly SummedEvent[]): MinuteSum[] {
  const sums = new Map<string, MinuteSum>()
  let last: { sum: MinuteSum; of: SummedEvent } | undefined
  for (const event of events) {
    // Most follow one of the same caller and minute.
    const sum = last && isAlike(last.of, event) ? last.sum : sumFor(event, sums)
    add(sum, event)
    last = { sum, of: event }
  }
  return [...sums.values()]
}

const isAlike = (one: SummedEvent, other: SummedEvent) =>
  one.usage.keyId === other.usage.keyId &&
  one.usage.model === other.usage.model &&
  one.accountId === other.accountId &&
  one.usage.userId === other.usage.userId &&
  one.usage.organizationId === other.usage.organizationId &&
  one.startedAt.startsWith(other.startedAt.slice(0, minuteLength))

function sumFor(event: SummedEvent, sums: Map<string, MinuteSum>): MinuteSum {
  const { userId, keyId, model, organizationId, tokens } = event.usage
  const minute = event.startedAt.slice(0, minuteLength)
  const name = JSON.stringify([minute, event.accountId, userId, keyId, model, organizationId])
  const knownSum = sums.get(name)
  if (knownSum) return knownSum
  const sum: MinuteSum = {
    minute,
    accountId: event.accountId ?? '',
    userId,
    keyId,
    model,
    organizationId,
    events: 0,
    failures: 0,
    cancellations: 0,
    tokens: tokens.map(() => 0),
    durationMs: 0,
    cost: 0n,
  }
  sums.set(name, sum)
  return sum
}

function add(sum: MinuteSum, { cost, usage: { outcome, tokens, durationMs } }: SummedEvent): void {
  sum.events += 1
  if (outcome === 'cancelled') sum.cancellations += 1
  else if (outcome !== 'ok') sum.failures += 1
  for (const [index, count] of tokens.entries())
    sum.tokens[index] = (sum.tokens[index] ?? 0) + count
  sum.durationMs += durationMs
  sum.cost += cost
}
