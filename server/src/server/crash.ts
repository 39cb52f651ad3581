import type { CrashAt } from '../platform/crash-points'
import type { Answer } from '../upstream/http/answer'
import { Egress, type UpstreamCall } from '../upstream/http/egress'
import type { LeaseStore } from '../ledger/lease-store'

/** Wraps a lease store with crash points: each statement commits by itself, so they are before and after it. */
export const crashingStore = (store: LeaseStore, crashAt: CrashAt): LeaseStore => ({
  ...store,
  take: async (lease) => {
    crashAt('take-before-commit')
    const answer = await store.take(lease)
    crashAt('take-after-commit')
    return answer
  },
  giveBack: async (returns, options) => {
    crashAt('return-before-commit')
    const answers = await store.giveBack(returns, options)
    crashAt('return-after-commit')
    return answers
  },
  renew: async (leaseIds) => {
    const renewedIds = await store.renew(leaseIds)
    crashAt('renew-mid')
    return renewedIds
  },
})

/** The egress with the crash points of an upstream request. */
export class CrashingEgress extends Egress {
  readonly #crashAt: CrashAt

  constructor(
    ...[timers, transports, crashAt]: [...ConstructorParameters<typeof Egress>, CrashAt]
  ) {
    super(timers, transports)
    this.#crashAt = crashAt
  }

  override async send(call: UpstreamCall): Promise<Answer> {
    const sending = super.send(call)
    this.#crashAt('after-upstream-sent')
    const response = await sending
    this.#crashAt('after-first-byte')
    return response
  }
}
