import type { Logger } from 'pino'
import type { ClaimStore } from '../idempotency/store'
import { Periodic } from '../platform/periodic'

const intervalMs = 3_600_000

interface Dependencies {
  store: Pick<ClaimStore, 'deleteExpired'>
  log: Logger
}

/** The deletion of expired idempotency keys, at once and then each hour. */
export function createClaimCleanup({ store, log }: Dependencies): Periodic {
  const run = async () => {
    await store.deleteExpired().catch((err: unknown) => {
      log.warn({ err }, 'expired idempotency keys could not be deleted')
    })
  }
  void run()
  return new Periodic({ intervalMs, run })
}
