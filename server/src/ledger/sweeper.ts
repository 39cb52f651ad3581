import { endLeases, expiredLeases } from './end-leases'
import type { Kysely } from 'kysely'
import type { Schema } from '../db/schema'

const watchedMs = 60_000

/**
 * Frees the leases of nodes that went silent: those a minute beyond their end by the database's clock
 * that this node itself has seen unrenewed for a minute, so that no single clock decides.
 */
export class Sweeper {
  readonly #db: Kysely<Schema>
  readonly #nowMs: () => number
  readonly #crashAt: ((point: 'sweep-mid') => void) | undefined
  /** Lease -> its end, and when it was first seen so. */
  #watched = new Map<string, { endsMs: number; sinceMs: number }>()

  constructor(db: Kysely<Schema>, nowMs: () => number, crashAt?: (point: 'sweep-mid') => void) {
    this.#db = db
    this.#nowMs = nowMs
    this.#crashAt = crashAt
  }

  /** To be called every few seconds. Resolves with the leases it ended. */
  async sweep(): Promise<string[]> {
    const now = this.#nowMs()
    const expired = await expiredLeases(this.#db)
    const before = this.#watched
    this.#watched = new Map(
      expired.map(({ id, expires_at }) => {
        const endsMs = expires_at.getTime()
        const seen = before.get(id)
        return [id, { endsMs, sinceMs: seen?.endsMs === endsMs ? seen.sinceMs : now }]
      }),
    )
    const due = expired.filter(({ id, isOverdue }) => {
      const sinceMs = this.#watched.get(id)?.sinceMs ?? now
      return isOverdue && now - sinceMs >= watchedMs
    })
    if (due.length === 0) return []
    this.#crashAt?.('sweep-mid')
    return endLeases(
      this.#db,
      due.map(({ id }) => id),
      'swept',
    )
  }
}
