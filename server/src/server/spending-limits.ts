import type { Logger } from 'pino'
import type { Storage } from './storage'
import { readWindows } from '../ledger/window-sums'
import { SpendingLimits } from '../metering/spending-limits'
import { withTimeout } from '../platform/with-timeout'

const everyMs = 3000
/** At most a tenth of one connection's time is spent on this. */
const maxTimeShare = 10

/** Creates the monthly limits and budgets; `disposables` ends their upkeep. */
export function createSpendingLimits(
  { storage, log }: { storage: Storage; log: Logger },
  disposables: AsyncDisposableStack,
): SpendingLimits {
  const { query, liveness } = storage.database
  const spendingLimits = new SpendingLimits({
    read: (scope, timeoutMs) =>
      withTimeout(readWindows(query, scope), liveness.timeoutFor(timeoutMs)),
    now: () => performance.now(),
    wallMs: () => Date.now(),
    onError: (err) => log.warn({ err }, 'the usage that spending limits count could not be read'),
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  const later = (ms: number) => {
    if (isClosed) return
    timer = setTimeout(() => void work(), ms)
    timer.unref()
  }
  const work = async () => {
    const beganMs = performance.now()
    await spendingLimits.refresh()
    later(Math.max(everyMs, maxTimeShare * (performance.now() - beganMs)))
  }
  later(everyMs)
  disposables.defer(() => {
    isClosed = true
    clearTimeout(timer)
  })
  return spendingLimits
}
