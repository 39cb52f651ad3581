/** Wakes lease work that waits for credit of its account. */
export class CreditSignals {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #pause: (ms: number) => Promise<void>

  constructor(pause: (ms: number) => Promise<void>) {
    this.#pause = pause
  }

  wake(accountId: string): void {
    for (const wake of this.#waiting.get(accountId) ?? []) wake()
  }

  /** Resolves when the account is woken, or after `ms`. */
  async within(accountId: string, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wakers = this.#waiting.get(accountId) ?? new Set()
    this.#waiting.set(accountId, wakers.add(resolve))
    try {
      await Promise.race([promise, this.#pause(ms)])
    } finally {
      wakers.delete(resolve)
      if (wakers.size === 0) this.#waiting.delete(accountId)
    }
  }
}
