interface Waiter {
  owner: object
  resource: string
  granted: () => void
}

/** Row locks of the simulated database: exclusive, first come first served. */
export class Locks {
  readonly #holders = new Map<string, object>()
  readonly #waiting = new Map<string, Waiter[]>()

  isHeld(resource: string): boolean {
    return this.#holders.has(resource)
  }

  /** Acquires a lock, and calls `granted` once `owner` has it: at once if it is free. */
  acquire(owner: object, resource: string, granted: () => void): void {
    if (!this.#holders.has(resource)) {
      this.#holders.set(resource, owner)
      return granted()
    }
    if (this.#holders.get(resource) === owner) return granted()
    const queue = this.#waiting.get(resource) ?? []
    queue.push({ owner, resource, granted })
    this.#waiting.set(resource, queue)
  }

  /** Releases all locks of `owner`, and withdraws its pending request. */
  release(owner: object): void {
    for (const [resource, queue] of this.#waiting) {
      const kept = queue.filter((waiter) => waiter.owner !== owner)
      if (kept.length === 0) this.#waiting.delete(resource)
      else if (kept.length < queue.length) this.#waiting.set(resource, kept)
    }
    for (const [resource, holder] of this.#holders) {
      if (holder !== owner) continue
      this.#holders.delete(resource)
      this.#grantNext(resource)
    }
  }

  /** Clears all locks and waiters, as a restart of the database does. */
  clear(): void {
    this.#holders.clear()
    this.#waiting.clear()
  }

  #grantNext(resource: string): void {
    const [next, ...others] = this.#waiting.get(resource) ?? []
    if (!next) return
    if (others.length === 0) this.#waiting.delete(resource)
    else this.#waiting.set(resource, others)
    this.#holders.set(resource, next.owner)
    next.granted()
  }
}
