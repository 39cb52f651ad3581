/** Answers that wait for the test: what is held is still running, on a machine of any speed. */
export interface Hold {
  /** Waits for the next `release`. Rejects as soon as `gone` does, after which nothing waits here. */
  hold: (gone?: Promise<void>) => Promise<void>
  /** The number of answers that wait. */
  heldCount: () => number
  /** Lets all that wait now go on; a test first waits until `heldCount` is what it expects. */
  release: () => void
}

/** Creates one at which nothing waits. */
export function createHold(): Hold {
  const waiting = new Set<PromiseWithResolvers<void>>()
  return {
    async hold(gone) {
      const released = Promise.withResolvers<void>()
      waiting.add(released)
      try {
        await (gone ? Promise.race([released.promise, gone]) : released.promise)
      } finally {
        waiting.delete(released)
      }
    },
    heldCount: () => waiting.size,
    release: () => waiting.forEach(({ resolve }) => resolve()),
  }
}
