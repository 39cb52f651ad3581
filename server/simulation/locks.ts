interface Waiter {
  owner: object
  granted: () => void
}

/** The locks of one owner, and the one that it waits for. */
interface Owned {
  held: string[]
  awaited: string | undefined
}

/** Row locks of the simulated database: exclusive, first come first served. */
export class Locks {
  readonly #holders = new Map<string, object>()
  readonly #waiting = new Map<string, Waiter[]>()
  readonly #owned = new Map<object, Owned>()

  isHeld(resource: string): boolean {
    return this.#holders.has(resource)
  }

  /**
   * Acquires a lock, and calls `granted` once `owner` has it: at once if it is free. An owner waits for one lock at a
   * time.
   */
  acquire(owner: object, resource: string, granted: () => void): void {
    if (!this.#holders.has(resource)) {
      this.#hold(owner, resource)
      return granted()
    }
    if (this.#holders.get(resource) === owner) return granted()
    this.#ownedBy(owner).awaited = resource
    const queue = this.#waiting.get(resource) ?? []
    queue.push({ owner, granted })
    this.#waiting.set(resource, queue)
  }

  /** Releases all locks of `owner`, and withdraws its pending request. */
  release(owner: object): void {
    const owned = this.#owned.get(owner)
    if (!owned) return
    this.#owned.delete(owner)
    if (owned.awaited !== undefined) this.#withdraw(owner, owned.awaited)
    for (const resource of owned.held) {
      this.#holders.delete(resource)
      this.#grantNext(resource)
    }
  }

  /** Clears all locks and waiters, as a restart of the database does. */
  clear(): void {
    this.#holders.clear()
    this.#waiting.clear()
    this.#owned.clear()
  }

  #ownedBy(owner: object): Owned {
    let owned = this.#owned.get(owner)
    if (!owned) this.#owned.set(owner, (owned = { held: [], awaited: undefined }))
    return owned
  }

  #hold(owner: object, resource: string): void {
    this.#holders.set(resource, owner)
    this.#ownedBy(owner).held.push(resource)
  }

  #withdraw(owner: object, resource: string): void {
    const remaining = this.#waiting.get(resource)?.filter((waiter) => waiter.owner !== owner) ?? []
    if (remaining.length === 0) this.#waiting.delete(resource)
    else this.#waiting.set(resource, remaining)
  }

  #grantNext(resource: string): void {
    const [next, ...others] = this.#waiting.get(resource) ?? []
    if (!next) return
    if (others.length === 0) this.#waiting.delete(resource)
    else this.#waiting.set(resource, others)
    this.#ownedBy(next.owner).awaited = undefined
    this.#hold(next.owner, resource)
    next.granted()
  }
}
