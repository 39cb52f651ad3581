import type { Logger } from 'pino'
import type { Storage } from './storage'
import { readMonth } from '../ledger/month-sums'
import { SpendingLimits } from '../metering/spending-limits'
import { withTimeout } from '../platform/with-timeout'

const everyMs = 3000
/** At most a tenth of one connection's time is spent on this. */
const mostShare = 10

/** Opens the monthly limits; `stack` ends their upkeep. */
export function openMonths(
  { storage, log }: { storage: Storage; log: Logger },
  stack: AsyncDisposableStack,
): SpendingLimits {
  const { query } = storage.database
  const months = new SpendingLimits({
    read: (asked, patienceMs) => withTimeout(readMonth(query, asked), patienceMs),
    now: () => performance.now(),
    wallMs: () => Date.now(),
    onError: (err) => log.warn({ err }, 'what was used this month could not be read'),
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
    await months.refresh()
    later(Math.max(everyMs, mostShare * (performance.now() - beganMs)))
  }
  later(everyMs)
  stack.defer(() => {
    isClosed = true
    clearTimeout(timer)
  })
  return months
}
