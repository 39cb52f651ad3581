/** Sums of requests. Amounts are nano-dollars. */
export interface LogTotals {
  requests: bigint
  successes: bigint
  failures: bigint
  cancellations: bigint
  input_tokens: bigint
  output_tokens: bigint
  cached_tokens: bigint
  cache_write_tokens: bigint
  cache_savings: bigint
  cost: bigint
  /** The mean latency of successful requests; null without any. */
  mean_ms: number | null
}

/** Sums of the requests of a group: those of a model, a provider or a key. */
export interface LogGroup {
  requests: bigint
  input_tokens: bigint
  output_tokens: bigint
  cached_tokens: bigint
  cache_savings: bigint
  cost: bigint
}

export type NamedLogGroup = LogGroup & { name: string | null }
export type KeyLogGroup = LogGroup & { id: string | null; prefix: string | null }

/** All sums of logs that a filter matches; the groups with the most requests come first. */
export interface LogSums {
  totals: LogTotals
  models: NamedLogGroup[]
  providers: NamedLogGroup[]
  keys: KeyLogGroup[]
  /** By the account that paid; null for none. */
  payers: NamedLogGroup[]
  /** By billing mode; null for requests without a provider. */
  modes: NamedLogGroup[]
  errors: { code: string; count: bigint }[]
}

/** The maximum number of groups of one kind. */
export const maxLogGroups = 1000

/** Adds the sums of disjoint sets of logs. */
export const addSums = (one: LogSums, other: LogSums): LogSums => ({
  totals: addTotals(one.totals, other.totals),
  models: addGroups(one.models, other.models, ({ name }) => name),
  providers: addGroups(one.providers, other.providers, ({ name }) => name),
  keys: addGroups(one.keys, other.keys, ({ id }) => id),
  payers: addGroups(one.payers, other.payers, ({ name }) => name),
  modes: addGroups(one.modes, other.modes, ({ name }) => name),
  errors: addErrors(one.errors, other.errors),
})

const addTotals = (one: LogTotals, other: LogTotals): LogTotals => ({
  ...addGroup(one, other),
  successes: one.successes + other.successes,
  failures: one.failures + other.failures,
  cancellations: one.cancellations + other.cancellations,
  cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
  mean_ms: addMeans(one, other),
})

const addGroup = (one: LogGroup, other: LogGroup): LogGroup => ({
  requests: one.requests + other.requests,
  input_tokens: one.input_tokens + other.input_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  cached_tokens: one.cached_tokens + other.cached_tokens,
  cache_savings: one.cache_savings + other.cache_savings,
  cost: one.cost + other.cost,
})

function addMeans(one: LogTotals, other: LogTotals): number | null {
  const successes = Number(one.successes + other.successes)
  if (successes === 0) return null
  const sum = [one, other].reduce((ms, of) => ms + (of.mean_ms ?? 0) * Number(of.successes), 0)
  return sum / successes
}

const compare = <Value>(one: Value, other: Value) => (one < other ? -1 : Number(one > other))

/** Adds groups with the same key. Those with as many requests are in the order of their keys, null last, as in SQL. */
function addGroups<Group extends LogGroup>(
  one: readonly Group[],
  other: readonly Group[],
  keyOf: (group: Group) => string | null,
): Group[] {
  const byKey = new Map(one.map((group) => [keyOf(group), group]))
  for (const group of other) {
    const knownSum = byKey.get(keyOf(group))
    byKey.set(
      keyOf(group),
      knownSum ? { ...group, ...knownSum, ...addGroup(knownSum, group) } : group,
    )
  }
  return [...byKey.values()]
    .toSorted(
      (a, b) =>
        compare(b.requests, a.requests) ||
        compare(Number(keyOf(a) === null), Number(keyOf(b) === null)) ||
        compare(keyOf(a) ?? '', keyOf(b) ?? ''),
    )
    .slice(0, maxLogGroups)
}

function addErrors(one: LogSums['errors'], other: LogSums['errors']): LogSums['errors'] {
  const counts = new Map(one.map(({ code, count }) => [code, count]))
  for (const { code, count } of other) counts.set(code, (counts.get(code) ?? 0n) + count)
  return [...counts]
    .map(([code, count]) => ({ code, count }))
    .toSorted((a, b) => compare(b.count, a.count) || compare(a.code, b.code))
    .slice(0, maxLogGroups)
}
