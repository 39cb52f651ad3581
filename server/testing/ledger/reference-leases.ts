import type { LeaseState } from '../../src/ledger/allocate'

export interface ReferenceLease extends LeaseState {
  accountId: string
  nodeId: string
  state: 'active' | 'closed' | 'swept'
  generation: number
  expiresAtMs: number
  /** The last reclaim that its node has answered. */
  yieldedAt: bigint
}

/** Copies rows, so that changes of one of the tables do not show in the other. */
export const copyRows = <Row extends object>(rows: ReadonlyMap<string, Row>): Map<string, Row> =>
  new Map([...rows].map(([id, row]) => [id, { ...row }]))

/** The table `credit_lease` as a plain object. */
export class ReferenceLeases {
  readonly all = new Map<string, ReferenceLease>()
  /** The leases that have not ended. */
  readonly active = new Map<string, ReferenceLease>()
  /** The same by account. */
  readonly #activeOf = new Map<string, Map<string, ReferenceLease>>()

  put(id: string, lease: ReferenceLease): void {
    this.all.set(id, lease)
    if (lease.state !== 'active') return
    this.active.set(id, lease)
    const own = this.#activeOf.get(lease.accountId)
    if (own) own.set(id, lease)
    else this.#activeOf.set(lease.accountId, new Map([[id, lease]]))
  }

  /** Returns the leases of an account that have not ended, by id. */
  activeOf(accountId: string): [string, ReferenceLease][] {
    return [...(this.#activeOf.get(accountId) ?? [])]
  }

  end(id: string, lease: ReferenceLease, state: 'closed' | 'swept'): void {
    lease.state = state
    this.active.delete(id)
    const own = this.#activeOf.get(lease.accountId)
    own?.delete(id)
    if (own?.size === 0) this.#activeOf.delete(lease.accountId)
  }

  clear(): void {
    for (const all of [this.all, this.active, this.#activeOf]) all.clear()
  }
}
