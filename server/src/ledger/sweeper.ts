import type { findExpiredLeases } from './end-leases'

/** The statements of a sweep. */
export interface SweeperPorts {
  findExpired: () => ReturnType<typeof findExpiredLeases>
  /** Ends leases that are still overdue; resolves with the ids of those that it ended. */
  end: (ids: readonly string[]) => Promise<string[]>
}

const watchedMs = 60_000
/** A statement locks the accounts of its leases until its end: requests that need their credit wait meanwhile. */
const maxEnded = 500

/**
 * Frees the leases of dead nodes: those a minute beyond their end by the database's clock that this node itself
 * has seen unrenewed for a minute, so that no single clock decides.
 */
export class Sweeper {
  readonly #ports: SweeperPorts
  readonly #nowMs: () => number
  readonly #crashAt: ((point: 'sweep-mid') => void) | undefined
  /** The end of each overdue lease, and when this node first saw it. */
  #overdueLeases = new Map<string, { endsMs: number; sinceMs: number }>()

  constructor(ports: SweeperPorts, nowMs: () => number, crashAt?: (point: 'sweep-mid') => void) {
    this.#ports = ports
    this.#nowMs = nowMs
    this.#crashAt = crashAt
  }

  /** Sweeps overdue leases; called every few seconds. Resolves with the ids of the leases it ended. */
  async sweep(): Promise<string[]> {
    const now = this.#nowMs()
    const expiredLeases = await this.#ports.findExpired()
    const before = this.#overdueLeases
    this.#overdueLeases = new Map(
      expiredLeases.map(({ id, expires_at }) => {
        const endsMs = expires_at.getTime()
        const knownLease = before.get(id)
        return [id, { endsMs, sinceMs: knownLease?.endsMs === endsMs ? knownLease.sinceMs : now }]
      }),
    )
    const due = expiredLeases.filter(({ id, isOverdue }) => {
      const sinceMs = this.#overdueLeases.get(id)?.sinceMs ?? now
      return isOverdue && now - sinceMs >= watchedMs
    })
    if (due.length === 0) return []
    this.#crashAt?.('sweep-mid')
    const endedIds: string[] = []
    for (let from = 0; from < due.length; from += maxEnded) {
      const ids = due.slice(from, from + maxEnded).map(({ id }) => id)
      endedIds.push(...(await this.#ports.end(ids)))
    }
    return endedIds
  }
}
