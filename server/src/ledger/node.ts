import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

/** One start of a process that takes leases. Each start has an id of its own. */
export interface LedgerNode {
  id: string
  /** Identical for every start on the same data directory, and unique to it. */
  location: string
}

// Three missed heartbeats: the node no longer shares accounts.
export const aliveSeconds = 60

/** Registers a start; a repetition changes nothing. */
export async function registerNode(
  db: Kysely<Schema>,
  { id, location }: LedgerNode,
): Promise<void> {
  await sql`
    insert into node (id, place) values (${id}, ${location}) on conflict (id) do nothing
  `.execute(db)
}

/** Records a node's heartbeat; resolves with the number of live nodes. */
export async function recordHeartbeat(db: Kysely<Schema>, id: string): Promise<number> {
  const { rows } = await sql<{ alive: number }>`
    with me as (update node set seen_at = now() where id = ${id} returning id)
    select count(*)::integer as alive from node
    where seen_at > now() - make_interval(secs => ${aliveSeconds}) or id in (select id from me)
  `.execute(db)
  return Math.max(1, rows[0]?.alive ?? 1)
}

/** Finds earlier starts at this location that still have active leases. */
export async function findEarlierStarts(db: Kysely<Schema>, { id, location }: LedgerNode) {
  const { rows } = await sql<{ id: string }>`
    select distinct node.id from node join credit_lease on credit_lease.node_id = node.id
    where node.place = ${location} and node.id <> ${id} and credit_lease.state = 'active'`.execute(
    db,
  )
  return rows.map((row) => row.id)
}

/** Deletes a start that returned everything. */
export async function deleteNode(db: Kysely<Schema>, id: string): Promise<void> {
  await sql`delete from node where id = ${id}`.execute(db)
}
