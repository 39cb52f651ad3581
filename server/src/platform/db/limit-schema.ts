import type { Generated } from 'kysely'

/** The slices of one rate limit, by node. Unlogged, as are the other tables of this file. */
interface LimitSlicesRow {
  bucket: string
  /** Changes with each write, and never comes back. */
  version: bigint
  /** JSON. */
  document: string
  /** By the clock of `limit_epoch`, in milliseconds. */
  written_ms: bigint
}

/** A node that shares limits. */
interface LimitNodeRow {
  node: string
  seen_ms: bigint
}

/** One row: the state of these tables, which are empty after a crash of PostgreSQL. */
interface LimitEpochRow {
  is_only: Generated<boolean>
  epoch: string
  since_ms: bigint
  has_lost_slices: Generated<boolean>
  /** The latest time that was read. */
  last_ms: bigint
  /** The milliseconds by which this clock is ahead of the server's, which was set back. */
  lag_ms: Generated<bigint>
  /** When outdated slices were last deleted. */
  purged_ms: Generated<bigint>
}

export interface LimitSchema {
  limit_slices: LimitSlicesRow
  limit_node: LimitNodeRow
  limit_epoch: LimitEpochRow
}
