import type { SQL } from 'bun'
import { eventually } from '../../../server/testing/eventually'
import { waitUntilBooked } from '../../harness/ledger'
import type { Nodes } from '../../harness/nodes'
import type { Customer } from '../../harness/server'

/** Counts of usage events of some customers. */
export interface BookedSums {
  events: number
  settled: number
  orphans: number
  /** Events beyond one a request; none without failover. */
  doubled: number
  chargedOrphans: number
}

/** Counts the events of customers. */
export async function sumsOf(sql: SQL, customers: readonly Customer[]): Promise<BookedSums> {
  const [row] = await sql`
    select count(*) as events, count(*) filter (where state = 'settled') as settled,
      count(*) filter (where state = 'orphan') as orphans,
      count(*) - count(distinct request_id) as doubled,
      count(*) filter (where state = 'orphan' and cost <> 0) as "chargedOrphans"
    from usage_event where key_id in ${sql(customers.map(({ keyId }) => keyId))}`
  const sum = (name: keyof BookedSums) => Number(row[name])
  return {
    events: sum('events'),
    settled: sum('settled'),
    orphans: sum('orphans'),
    doubled: sum('doubled'),
    chargedOrphans: sum('chargedOrphans'),
  }
}

/** Tells whether each customer has a charged event, and so a lease. */
export async function hasEachBooked(sql: SQL, customers: readonly Customer[]): Promise<boolean> {
  const [row] = await sql`
    select count(distinct key_id)::int as keys from usage_event
    where key_id in ${sql(customers.map(({ keyId }) => keyId))} and cost > 0`
  return row.keys === customers.length
}

/**
 * Waits until each attempt of these customers has its event, and at least `minSettled` are settled: a start that takes
 * more than 5 s to recover books while it serves. What is missing in the end was lost: that is for the test to find, not a wait
 * that CI may repeat.
 */
export async function waitForEvents(
  nodes: Pick<Nodes, 'sql' | 'upstream'>,
  customers: readonly Customer[],
  minSettled: number,
): Promise<void> {
  const areBooked = async () => {
    const { settled } = await sumsOf(nodes.sql, customers)
    return settled >= minSettled && (await silentAttempts(nodes, customers)) === 0
  }
  await eventually(areBooked).catch(() => undefined)
}

/** The same, and until nothing else is booked, which might be there twice. */
export async function waitForAttempts(
  nodes: Pick<Nodes, 'sql' | 'upstream'>,
  customers: readonly Customer[],
  minSettled: number,
): Promise<void> {
  await waitForEvents(nodes, customers, minSettled)
  const { events } = await sumsOf(nodes.sql, customers)
  await waitUntilBooked(nodes.sql, events)
}

/** The keys of requests: a test looks at all its requests again and again, and they may be many thousands. */
const keyIds = new WeakMap<object, string>()

/** Returns the id of a key that a request of a load has in its prompt; empty where it has none. */
function keyIdIn(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const known = keyIds.get(body)
  if (known !== undefined) return known
  const [keyId = ''] = /key_\w+/.exec(JSON.stringify(body)) ?? []
  keyIds.set(body, keyId)
  return keyId
}

/** Returns the attempts of a load's customers that the provider received and that have no event. */
export async function silentAttempts(
  { sql, upstream }: Pick<Nodes, 'sql' | 'upstream'>,
  customers: readonly Customer[],
): Promise<number> {
  const requestCounts = new Map(customers.map(({ keyId }) => [keyId, 0]))
  for (const { body } of upstream.requests()) {
    const keyId = keyIdIn(body)
    const count = requestCounts.get(keyId)
    if (count !== undefined) requestCounts.set(keyId, count + 1)
  }
  const rows: { key_id: string; events: string }[] = await sql`
    select key_id, count(*) as events from usage_event group by 1`
  const events = new Map(rows.map((row) => [row.key_id, Number(row.events)]))
  let silent = 0
  for (const [keyId, count] of requestCounts)
    silent += Math.max(0, count - (events.get(keyId) ?? 0))
  return silent
}
