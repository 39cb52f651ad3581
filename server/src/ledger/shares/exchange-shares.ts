import { sql, type Kysely, type Transaction } from 'kysely'
import type { NodeShare } from './grant-share'
import type {
  DecideShares,
  SharedUsage,
  ShareDecision,
  ShareMoment,
  ShareRecall,
} from './share-exchange'
import { readWindowsOn } from '../window-sums'
import type { LedgerNode } from '../node'
import type { Schema } from '../../platform/db/schema'

/** The channel of recalls, to which every node listens. */
export const shareChannel = 'tollgate_share'

interface Exchange {
  nodeId: string
  /** The longest wait for another node's exchange, in milliseconds. */
  lockMs: number
  usages: readonly SharedUsage[]
  decide: DecideShares
}

/**
 * Exchanges this node's shares of usages in one transaction, which locks them in the order of their locks: reads what is
 * booked and the shares of all nodes, and writes what `decide` returns. The shares count once it resolves.
 */
export const exchangeShares = (
  db: Kysely<Schema>,
  { nodeId, lockMs, usages, decide }: Exchange,
): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await lockUsages(trx, usages, lockMs)
    // A statement after that of the locks sees all that was committed before they were there.
    const sums = await readWindowsOn(trx, { usedBy: usages, unbooked: () => unbookedOf(usages) })
    const moment: ShareMoment = { ...sums, ...(await readShares(trx, usages)) }
    const fromMs = usages.map(({ window }) => window.fromMs)
    const decisions = decide(moment).flatMap((decision, at) => {
      const usage = usages[at]
      return usage && decision ? [{ id: usage.id, fromMs: fromMs[at] ?? 0, ...decision }] : []
    })
    await writeShares(trx, nodeId, decisions)
  })

/** Returns the events of usages, each once. */
const unbookedOf = (usages: readonly SharedUsage[]) => [
  ...new Map(
    usages.flatMap(({ unbooked }) => unbooked.map((event) => [event.id, event] as const)),
  ).values(),
]

async function lockUsages(
  trx: Transaction<Schema>,
  usages: readonly SharedUsage[],
  lockMs: number,
): Promise<void> {
  const names = usages.map(({ id, window }) => `limit share ${id} ${window.fromMs}`)
  await sql`
    with bounded as materialized (
      select set_config('lock_timeout', ${String(lockMs)}, true)
    ), ordered as materialized (
      select distinct hashtextextended(name, 0) as number from unnest(${names}::text[]) as name
      order by number
    )
    select pg_advisory_xact_lock(number) from bounded, ordered`.execute(trx)
}

interface ShareRow {
  now_ms: number
  next_turn: bigint
  usage_id: string | null
  node_id: string
  requests: bigint
  spent: bigint
  tokens: bigint
  lacking_requests: bigint
  lacking_spent: bigint
  lacking_tokens: bigint
  waits_since: bigint | null
  turn: bigint
  stated_ms: number
}

/** Reads the shares of all nodes, and begins the turn of this exchange. */
async function readShares(trx: Transaction<Schema>, usages: readonly SharedUsage[]) {
  const { rows } = await sql<ShareRow>`
    with moment as materialized (
      select nextval('limit_share_turn') as next_turn,
        extract(epoch from clock_timestamp())::float8 * 1000 as now_ms
    )
    select moment.*, limit_share.*, extract(epoch from stated_at)::float8 * 1000 as stated_ms
    from moment left join (
      unnest(
        ${usages.map(({ id }) => id)}::text[],
        ${usages.map(({ window }) => new Date(window.fromMs))}::timestamptz[]
      ) as shared (usage_id, window_start)
      join limit_share using (usage_id, window_start)
    ) on true`.execute(trx)
  const [first] = rows
  if (!first) throw new Error('PostgreSQL returns no turn')
  const shares = new Map<string, NodeShare[]>()
  for (const row of rows) {
    if (row.usage_id === null) continue
    const ofUsage = shares.get(row.usage_id) ?? []
    ofUsage.push(toNodeShare(row))
    shares.set(row.usage_id, ofUsage)
  }
  return { turn: first.next_turn, nowMs: first.now_ms, shares }
}

const toNodeShare = (row: ShareRow): NodeShare => ({
  nodeId: row.node_id,
  reserved: { requests: row.requests, spent: row.spent, tokens: row.tokens },
  shortage: {
    requests: row.lacking_requests,
    spent: row.lacking_spent,
    tokens: row.lacking_tokens,
  },
  waitsSince: row.waits_since,
  turn: row.turn,
  statedAtMs: row.stated_ms,
})

type UsageDecision = ShareDecision & { id: string; fromMs: number }

async function writeShares(
  trx: Transaction<Schema>,
  nodeId: string,
  decisions: readonly UsageDecision[],
): Promise<void> {
  const statedShares = decisions.flatMap(({ id, fromMs, share }) =>
    share ? [{ id, fromMs, share }] : [],
  )
  const endedShares = decisions.flatMap(({ id, fromMs, share, deadNodes }) =>
    [...deadNodes, ...(share ? [] : [nodeId])].map((node) => ({ id, fromMs, node })),
  )
  const payloads = decisions
    .filter(({ needsOthers }) => needsOthers)
    .map(({ id, fromMs }) =>
      JSON.stringify({ usageId: id, fromMs, from: nodeId } satisfies ShareRecall),
    )
  await sql`
    with deleted as (
      delete from limit_share using unnest(
        ${endedShares.map(({ id }) => id)}::text[],
        ${endedShares.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
        ${endedShares.map(({ node }) => node)}::text[]
      ) as ended (usage_id, window_start, node_id)
      where limit_share.usage_id = ended.usage_id
        and limit_share.window_start = ended.window_start
        and limit_share.node_id = ended.node_id
    ), stated as (
      insert into limit_share (
        usage_id, window_start, node_id, requests, spent, tokens, lacking_requests, lacking_spent,
        lacking_tokens, waits_since, turn, stated_at
      )
      select usage_id, window_start, ${nodeId}, requests, spent, tokens, lacking_requests,
        lacking_spent, lacking_tokens, waits_since, turn, clock_timestamp()
      from unnest(
        ${statedShares.map(({ id }) => id)}::text[],
        ${statedShares.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
        ${statedShares.map(({ share }) => share.reserved.requests)}::bigint[],
        ${statedShares.map(({ share }) => share.reserved.spent)}::bigint[],
        ${statedShares.map(({ share }) => share.reserved.tokens)}::bigint[],
        ${statedShares.map(({ share }) => share.shortage.requests)}::bigint[],
        ${statedShares.map(({ share }) => share.shortage.spent)}::bigint[],
        ${statedShares.map(({ share }) => share.shortage.tokens)}::bigint[],
        ${statedShares.map(({ share }) => share.waitsSince)}::bigint[],
        ${statedShares.map(({ share }) => share.turn)}::bigint[]
      ) as stated (
        usage_id, window_start, requests, spent, tokens, lacking_requests, lacking_spent,
        lacking_tokens, waits_since, turn
      )
      on conflict (usage_id, window_start, node_id) do update set
        requests = excluded.requests, spent = excluded.spent, tokens = excluded.tokens,
        lacking_requests = excluded.lacking_requests, lacking_spent = excluded.lacking_spent,
        lacking_tokens = excluded.lacking_tokens,
        waits_since = excluded.waits_since, turn = excluded.turn, stated_at = excluded.stated_at
    )
    select pg_notify(${shareChannel}, payload) from unnest(${payloads}::text[]) as payload`.execute(
    trx,
  )
}

/** Deletes the shares of a node that has booked all that it used. */
export async function deleteShares(db: Kysely<Schema>, nodeId: string): Promise<void> {
  await sql`delete from limit_share where node_id = ${nodeId}`.execute(db)
}

/** Deletes the shares of earlier starts at this location, whose usage is booked. */
export async function deleteEarlierShares(
  db: Kysely<Schema>,
  { id, location }: LedgerNode,
): Promise<void> {
  await sql`
    delete from limit_share using node
    where node.id = limit_share.node_id and node.place = ${location} and node.id <> ${id}`.execute(
    db,
  )
}
