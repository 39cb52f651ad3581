import type { Logger } from 'pino'
import type { Storage } from './storage'
import { exchangeShares } from '../ledger/shares/exchange-shares'
import { readWindows } from '../ledger/window-sums'
import { SpendingLimits } from '../metering/spending-limits'
import { withTimeout } from '../platform/with-timeout'

const everyMs = 3000
/** The longest that a request waits for an exchange of shares, and that an exchange waits for another one. */
const exchangeMs = 900
const lockMs = 2000
/** The longest that a request waits for what other nodes do not use. */
const recallMs = 1000
/** At most a tenth of one connection's time is spent on this. */
const maxTimeShare = 10

/** Creates the monthly limits and budgets; `disposables` ends their upkeep. */
export function createSpendingLimits(
  { storage, log, nodeId }: { storage: Storage; log: Logger; nodeId: string },
  disposables: AsyncDisposableStack,
): SpendingLimits {
  const { query, liveness } = storage.database
  const spendingLimits = new SpendingLimits({
    read: (scope, timeoutMs) =>
      withTimeout(readWindows(query, scope), liveness.timeoutFor(timeoutMs)),
    now: () => performance.now(),
    wallMs: () => Date.now(),
    onError: (err) => log.warn({ err }, 'the usage that spending limits count could not be read'),
    shares: {
      nodeId,
      exchange: (usages, decide) => exchangeShares(query, { nodeId, lockMs, usages, decide }),
      clocks: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
      sleep: (ms) => Bun.sleep(ms),
      withTimeout: (promise) => withTimeout(promise, liveness.timeoutFor(exchangeMs)),
      maxWaitMs: () => liveness.timeoutFor(recallMs),
      onError: (err) => log.warn({ err }, 'shares of spending limits could not be exchanged'),
    },
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
