import type { Logger } from 'pino'
import type { Storage } from './storage'
import { newId } from '../platform/db/id'
import { Claims } from '../idempotency/claims'
import { createClaimStore } from '../idempotency/store'

/** A lease survives two failed renewals. */
const tickMs = 3000
const cleanUpMs = 3_600_000

/** Opens the store of answers for requests with an `Idempotency-Key`; `stack` ends its upkeep. */
export function openClaims(
  { storage, log }: { storage: Storage; log: Logger },
  stack: AsyncDisposableStack,
): Claims {
  const store = createClaimStore(storage.database.query)
  const claims = new Claims({
    store,
    newClaimId: () => newId('claim'),
    pause: (ms) => Bun.sleep(ms),
    onError: (err) => log.warn({ err }, 'an idempotency key could not be written down yet'),
  })
  const cleanUp = () => {
    store.deleteExpired().catch((err: unknown) => {
      log.warn({ err }, 'expired idempotency keys could not be deleted')
    })
  }
  cleanUp()
  const timers = [setInterval(() => void claims.tick(), tickMs), setInterval(cleanUp, cleanUpMs)]
  for (const timer of timers) timer.unref()
  stack.defer(async () => {
    for (const timer of timers) clearInterval(timer)
    // The last attempt to store pending answers.
    await claims.tick()
  })
  return claims
}
