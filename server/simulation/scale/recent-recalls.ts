import type { Scheduler } from '../scheduler'
import type { LeaseReclaim } from '../../src/ledger/lease-reclaim'

/** The time for which nodes can still read a recall. Milliseconds. */
const lifeMs = 10_000

/** The last recall of each account and node, the oldest first, without those that no node reads any more. */
export class RecentRecalls extends Map<string, LeaseReclaim> {
  readonly #scheduler: Scheduler

  constructor(scheduler: Scheduler) {
    super()
    this.#scheduler = scheduler
  }

  override set(key: string, recall: LeaseReclaim): this {
    this.delete(key)
    super.set(key, recall)
    const sinceMs = this.#scheduler.nowMs - lifeMs
    for (const [first, { at }] of this) {
      if (Number(at) / 1000 >= sinceMs) break
      this.delete(first)
    }
    return this
  }
}
