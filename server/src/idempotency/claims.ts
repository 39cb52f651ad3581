import { keyReused } from './key'
import { awaitWithin, type WaitTimeouts } from './wait-timeouts'
import { nameOf, type ClaimStore, type StoredAnswer, type Named } from './store'
import { unavailable } from '../errors'
import type { Clock } from '../platform/clock'

/** The maximum size of a stored answer, in bytes; the key of a larger one becomes free. */
export const maxAnswerBytes = 8 * 1024 * 1024

const pollMs = 1000

/** The right to answer first under a key. Ends once, by one of its two methods. */
export interface Claim {
  /** Stores the answer for repeats. Resolves when it is stored, or will be once the database answers again. */
  keep: (answer: StoredAnswer) => Promise<void>
  /** Frees the key, as nothing was done: the next request with it is the first. Never rejects either. */
  giveUp: () => Promise<void>
}

export type ClaimResult = { claim: Claim } | { stored: StoredAnswer }

interface Ports {
  store: ClaimStore
  newClaimId: () => string
  pause: (ms: number) => Promise<void>
  /** Reports an answer that could not be stored yet, or a key that could not be freed before its lease ends. */
  onError: (error: unknown) => void
  clock?: Clock
}

/** A running request on this node that holds a key, or is claiming it; its repeats here wait for it. */
interface Running {
  claimId: string
  /** Resolves with undefined when no answer was stored. */
  ended: Promise<StoredAnswer | undefined>
  end: (stored: StoredAnswer | undefined) => void
  isClaimed: boolean
  /** An answer that was returned but is not stored yet. */
  unstored: StoredAnswer | undefined
}

/**
 * The idempotency keys in use on this node. A repeat here waits in memory; a repeat of another node's request waits
 * for its notification, and polls the database once a second should that get lost.
 */
export class Claims {
  readonly #ports: Ports
  readonly #running = new Map<string, Running>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * Claims the key, or returns the answer stored under it; where the first request runs, after its end. Rejects with
   * `key_reused`, with `request_timeout` when the wait ends, with `gateway_unavailable`.
   */
  async take(claimKey: Named, timeouts: WaitTimeouts): Promise<ClaimResult> {
    // The hash is part of the name: the database refuses a key with another hash.
    const name = `${nameOf(claimKey)} ${claimKey.hash.toString('hex')}`
    for (;;) {
      const first = this.#running.get(name)
      if (!first) return this.#claimFirst(name, { claimKey, timeouts })
      const stored = await awaitWithin(first.ended, timeouts, this.#ports.clock)
      if (stored) return { stored }
    }
  }

  /** Claims a key for the first request with it on this node: queries the database, and waits for other nodes. */
  async #claimFirst(
    name: string,
    { claimKey, timeouts }: { claimKey: Named; timeouts: WaitTimeouts },
  ): Promise<ClaimResult> {
    const { promise: ended, resolve: end } = Promise.withResolvers<StoredAnswer | undefined>()
    const claimId = this.#ports.newClaimId()
    const running: Running = { claimId, ended, end, isClaimed: false, unstored: undefined }
    this.#running.set(name, running)
    const finish = (stored: StoredAnswer | undefined) => {
      this.#running.delete(name)
      end(stored)
    }
    try {
      const stored = await this.#claimed({ claimKey, timeouts, claimId })
      if (!stored) {
        running.isClaimed = true
        return { claim: this.#claimOf(running, finish) }
      }
      finish(stored)
      return { stored }
    } catch (thrown) {
      finish(undefined)
      throw thrown
    }
  }

  /** Resolves with undefined once the claim has the key, else with the entry stored under it. */
  async #claimed(claim: { claimKey: Named; timeouts: WaitTimeouts; claimId: string }) {
    const { claimKey, timeouts, claimId } = claim
    const { store, pause, clock } = this.#ports
    for (;;) {
      // Subscribed before the query, so that no notification is missed in between.
      using notified = this.#notified(nameOf(claimKey))
      if (await orUnavailable(store.claim(claimKey, claimId))) return undefined
      const entry = await orUnavailable(store.find(claimKey))
      if (!entry) continue
      if (!entry.hash.equals(claimKey.hash)) throw keyReused()
      if (entry.answer) return entry.answer
      await awaitWithin(Promise.race([notified.next, pause(pollMs)]), timeouts, clock)
    }
  }

  #claimOf(running: Running, finish: (stored: StoredAnswer | undefined) => void): Claim {
    const { store, onError } = this.#ports
    const giveUp = async () => {
      await store.giveUp(running.claimId).catch(onError)
      finish(undefined)
    }
    return {
      giveUp,
      keep: async (answer) => {
        if (answer.body.byteLength > maxAnswerBytes) return giveUp()
        try {
          await store.keep(running.claimId, answer)
          finish(answer)
        } catch (error) {
          onError(error)
          running.unstored = answer
          // The request stays among the running ones, where repeats on this node find it.
          running.end(answer)
        }
      },
    }
  }

  /** Renews leases and retries writes; to be called every few seconds, well within a lease. Never rejects. */
  async tick(): Promise<void> {
    const { store, onError } = this.#ports
    const claimed = [...this.#running].filter(([, { isClaimed }]) => isClaimed)
    if (claimed.length === 0) return
    await store.renew(claimed.map(([, { claimId }]) => claimId)).catch(onError)
    for (const [name, { claimId, unstored }] of claimed) {
      if (!unstored) continue
      try {
        await store.keep(claimId, unstored)
        this.#running.delete(name)
      } catch (error) {
        onError(error)
      }
    }
  }

  /** Resolves when no request with a key runs on this node. */
  async idle(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  /** Handles a notification: a node, this one included, has stored an answer or freed a key. */
  ended(name: string): void {
    for (const wake of this.#waiting.get(name) ?? []) wake()
  }

  /** Wakes all waiting repeats, as notifications may have been missed. */
  mayHaveEnded(): void {
    for (const name of this.#waiting.keys()) this.ended(name)
  }

  #notified(name: string): { next: Promise<void> } & Disposable {
    const { promise: next, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, waiting.add(resolve))
    return {
      next,
      [Symbol.dispose]: () => {
        waiting.delete(resolve)
        if (waiting.size === 0) this.#waiting.delete(name)
      },
    }
  }
}

/** Nothing was sent yet, so that an unavailable database only rejects the request. */
async function orUnavailable<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise
  } catch (cause) {
    throw unavailable(cause)
  }
}
