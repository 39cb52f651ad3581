import type { Logger } from 'pino'
import type { Storage } from './storage'
import { newId } from '../platform/db/id'
import { Claims } from '../idempotency/claims'
import { createClaimStore } from '../idempotency/store'
import { createClaimCleanup } from '../jobs/delete-expired-claims'
import { Periodic } from '../platform/periodic'

/** A lease survives two failed renewals. */
const tickMs = 3000

/** Creates the store of answers for requests with an `Idempotency-Key`; `disposables` ends its upkeep. */
export function createClaims(
  { storage, log }: { storage: Storage; log: Logger },
  disposables: AsyncDisposableStack,
): Claims {
  const store = createClaimStore(storage.database.query, (nearMs) =>
    storage.database.liveness.timeoutFor(nearMs),
  )
  const claims = new Claims({
    store,
    newClaimId: () => newId('claim'),
    pause: (ms) => Bun.sleep(ms),
    onError: (err) => log.warn({ err }, 'an idempotency key could not be stored yet'),
  })
  const upkeep = new Periodic({ intervalMs: tickMs, run: () => claims.tick() })
  disposables.defer(async () => {
    await upkeep[Symbol.asyncDispose]()
    // The last attempt to store pending answers.
    await claims.tick()
  })
  const cleanup = createClaimCleanup({ store, log })
  disposables.defer(() => cleanup.stop())
  return claims
}
