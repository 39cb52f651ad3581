import { sql } from 'kysely'
import { parseDocument } from './stored-slices'
import type {
  Heartbeat,
  Recall,
  SliceStore,
  SliceWrite,
  StoreMoment,
  StoredSlices,
} from './slice-store'
import { Availability } from '../../platform/availability'
import type { Database } from '../../platform/db/database'
import { generateIdBody } from '../../platform/db/id'

interface Options {
  database: Database
  onError: (error: Error) => void
  onBack: () => void
}

/** The channel of recalls, to which every node listens. */
export const recallChannel = 'tollgate_slices'

/** A slice that no node states again is deleted: each node does once a minute. Milliseconds. */
const documentLifeMs = 300_000
const purgeEveryMs = 60_000
/** A node that was silent for so long is removed. Milliseconds. */
const nodeLifeMs = 600_000

/**
 * The timeout of a statement. A request waits for one only where its node's slice does not suffice, and then for a shorter
 * time (`sliced-counters.ts`).
 */
const deadlineMs = 250
/** One for the exchange that runs, one for heartbeats and reads of the use. */
export const limitPoolSize = 2
const statementMs = 1000

const clockMs = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

interface EpochRow {
  now_ms: bigint
  epoch: string
  since_ms: bigint
  has_lost_slices: boolean
}

const toMoment = ({ now_ms, epoch, since_ms, has_lost_slices }: EpochRow): StoreMoment => ({
  nowMs: Number(now_ms),
  epoch,
  sinceMs: Number(since_ms),
  hasLostSlices: has_lost_slices,
})

/**
 * Keeps slices in unlogged tables of PostgreSQL, in a pool of its own. After a crash of PostgreSQL they are empty, and
 * nodes state their slices again, as in a Redis that was emptied.
 */
export class PostgresSliceStore implements SliceStore, AsyncDisposable {
  readonly kind = 'postgresql'
  readonly #database: Database
  readonly #availability: Availability

  constructor({ database, onError, onBack }: Options) {
    // An idle connection that breaks is noticed by the next statement.
    this.#database = database.secondPool({
      poolSize: limitPoolSize,
      statementMs,
      onError: () => undefined,
    })
    const probe = () => this.#read([])
    this.#availability = new Availability({ deadlineMs, probe, onError, onBack })
  }

  get isAway(): boolean {
    return this.#availability.isAway
  }

  read(buckets: readonly string[]): Promise<StoreMoment & { slices: StoredSlices[] }> {
    return this.#availability.run(() => this.#read(buckets))
  }

  write(writes: readonly SliceWrite[]): Promise<boolean[]> {
    return this.#availability.run(() => this.#write(writes))
  }

  beat(node: string, epoch = ''): Promise<Heartbeat> {
    return this.#availability.run(() => this.#beat(node, epoch))
  }

  async leave(node: string): Promise<void> {
    await this.#availability.run(() =>
      this.#database.query.deleteFrom('limit_node').where('node', '=', node).execute(),
    )
  }

  async recall(recalls: readonly Recall[]): Promise<void> {
    const payloads = recalls.map((one) => JSON.stringify(one))
    await this.#availability.run(() =>
      sql`select pg_notify(${recallChannel}, payload) from unnest(${payloads}::text[]) payload`.execute(
        this.#database.query,
      ),
    )
  }

  async #read(buckets: readonly string[]): Promise<StoreMoment & { slices: StoredSlices[] }> {
    interface Row extends EpochRow {
      bucket: string | null
      version: bigint
      document: string
    }
    const { rows } = await sql<Row>`
      select epoch, since_ms, has_lost_slices, greatest(last_ms, ${clockMs} + lag_ms) as now_ms,
        bucket, version, document
      from limit_epoch left join limit_slices on bucket = any(${buckets}::text[])`.execute(
      this.#database.query,
    )
    const [row] = rows
    if (!row) {
      await this.#begin()
      return this.#read(buckets)
    }
    const storedSlices = new Map(
      rows.map(({ bucket, version, document }) => [bucket, { version, document }]),
    )
    const slices = buckets.map((bucket) => {
      const storedSlice = storedSlices.get(bucket)
      if (!storedSlice) return { version: 0, document: {} }
      return { version: Number(storedSlice.version), document: parseDocument(storedSlice.document) }
    })
    return { ...toMoment(row), slices }
  }

  /** Begins an epoch in tables that are new, or that a crash has emptied. */
  async #begin(): Promise<void> {
    await sql`
      insert into limit_epoch (epoch, since_ms, last_ms)
      values (${generateIdBody()}, ${clockMs}, ${clockMs}) on conflict do nothing`.execute(
      this.#database.query,
    )
  }

  /** Locks rows in one order, so that two writes of the same rows wait for each other instead of deadlocking. */
  async #write(writes: readonly SliceWrite[]): Promise<boolean[]> {
    const buckets = writes.map(({ bucket }) => bucket)
    const versions = writes.map(({ version }) => version)
    const documents = writes.map(({ document }) => JSON.stringify(document))
    const { rows } = await sql<{ bucket: string }>`
      with input as materialized (
        select bucket, version, document
        from unnest(${buckets}::text[], ${versions}::bigint[], ${documents}::text[])
          as input (bucket, version, document)
      ), locked as materialized (
        select limit_slices.bucket, limit_slices.version from limit_slices
        where limit_slices.bucket = any(${buckets}::text[])
        order by limit_slices.bucket for update
      ), moment as (
        select ${clockMs} as now_ms
      ), updated as (
        update limit_slices set version = greatest(limit_slices.version + 1, now_ms * 1000),
          document = input.document, written_ms = now_ms
        from input join locked using (bucket, version), moment
        where limit_slices.bucket = input.bucket and limit_slices.version = input.version
        returning limit_slices.bucket
      ), inserted as (
        insert into limit_slices (bucket, version, document, written_ms)
        select bucket, now_ms * 1000, document, now_ms from input, moment where version = 0
        order by bucket on conflict do nothing
        returning bucket
      )
      select bucket from updated union all select bucket from inserted`.execute(
      this.#database.query,
    )
    const writtenBuckets = new Set(rows.map(({ bucket }) => bucket))
    return buckets.map((bucket) => writtenBuckets.has(bucket))
  }

  async #beat(node: string, knownEpoch: string): Promise<Heartbeat> {
    interface Row extends EpochRow {
      is_purge_due: boolean
      node: string | null
      seen_ms: bigint
    }
    const { rows } = await sql<Row>`
      with epoch as (
        insert into limit_epoch as old (epoch, since_ms, has_lost_slices, last_ms)
        select ${generateIdBody()}, now_ms, ${knownEpoch !== ''}, now_ms
        from (select ${clockMs} as now_ms) clock
        on conflict (is_only) do update set
          has_lost_slices = old.has_lost_slices
            or (${knownEpoch !== ''} and ${knownEpoch} <> old.epoch),
          last_ms = greatest(old.last_ms, excluded.last_ms + old.lag_ms),
          lag_ms = greatest(old.lag_ms, old.last_ms - excluded.last_ms)
        returning epoch, since_ms, has_lost_slices, last_ms as now_ms, purged_ms
      ), seen as (
        insert into limit_node (node, seen_ms) select ${node}, now_ms from epoch
        on conflict (node) do update set seen_ms = excluded.seen_ms
      ), removed as (
        delete from limit_node using epoch
        where limit_node.node <> ${node} and seen_ms < now_ms - ${nodeLifeMs}::bigint
      )
      select epoch, since_ms, has_lost_slices, now_ms, node, seen_ms,
        purged_ms < now_ms - ${purgeEveryMs}::bigint as is_purge_due
      from epoch left join limit_node on limit_node.node <> ${node}`.execute(this.#database.query)
    const [row] = rows
    if (!row) throw new Error('PostgreSQL returns no epoch')
    const moment = toMoment(row)
    if (row.is_purge_due) await this.#purge(moment.nowMs)
    const otherNodes = rows.flatMap(({ node: other, seen_ms }) =>
      other === null ? [] : ([[other, Number(seen_ms)]] as const),
    )
    return { ...moment, seenAtMs: new Map([[node, moment.nowMs], ...otherNodes]) }
  }

  /** Deletes slices that no node states any more. One of the nodes does so each minute. */
  async #purge(nowMs: number): Promise<void> {
    await sql`
      with due as (
        update limit_epoch set purged_ms = ${nowMs}::bigint
        where purged_ms < ${nowMs - purgeEveryMs}::bigint returning true
      )
      delete from limit_slices using due
      where written_ms < ${clockMs} - ${documentLifeMs}::bigint`.execute(this.#database.query)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#availability[Symbol.dispose]()
    await this.#database[Symbol.asyncDispose]()
  }
}
