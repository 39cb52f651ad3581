import type { LimitKind, Population } from './population'
import { lossMs } from './profile'
import { Samples } from './samples'
import { leasedIdle, slicedIdle, type SetAside } from './set-aside'
import type { RequestEnd } from './traffic-figures'
import type { AccountObserver, PendingRequest } from '../accounts'
import type { Scheduler } from '../scheduler'
import type { ReferenceLedger } from '../../testing/ledger/reference-ledger'
import type { SimulatedSliceServer } from '../../testing/limits/simulated-slice-store'

/** A request that waited longer was slow: far from the database some take two seconds at any time. Milliseconds. */
const slowMs = 5000
const sampleEveryMs = 1000

/** The effect of the loss of a region. Times are milliseconds after the loss. */
export interface LossFigures {
  atMs: number
  /** Credit in leases and units in slices of the lost nodes at that moment. */
  stranded: SetAside
  strandedUnits: Record<LimitKind, SetAside>
  /** Unspent credit in leases of lost nodes each second, in nano-dollars, and the leases, until there are none. */
  remaining: { afterMs: number; amount: bigint; leases: number }[]
  /** The ends of requests that were rejected, although their accounts could have paid with the credit of lost nodes. */
  refusedAtMs: Samples
  failedAtMs: Samples
  /** The ends of requests that waited for more than five seconds, while the region was lost and since it is back. */
  slowAtMs: Samples
  slowBackAtMs: Samples
}

interface Dependencies {
  scheduler: Scheduler
  ledger: ReferenceLedger
  observer: AccountObserver
  population: Population
  sliceServer: SimulatedSliceServer
  /** Whether a node was lost. */
  isLost: (node: { nodeId: string }) => boolean
}

/** Observes a region that is lost now. */
export class LossObserver {
  readonly #dependencies: Dependencies
  readonly figures: LossFigures

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    const { scheduler, ledger, observer, isLost } = dependencies
    this.figures = {
      atMs: scheduler.nowMs,
      stranded: leasedIdle(ledger, observer, isLost),
      strandedUnits: {
        requests: this.#unitsOf('requests'),
        places: this.#unitsOf('places'),
        tokens: this.#unitsOf('tokens'),
      },
      remaining: [],
      refusedAtMs: new Samples(),
      failedAtMs: new Samples(),
      slowAtMs: new Samples(),
      slowBackAtMs: new Samples(),
    }
    for (const { accountId } of ledger.active.values()) observer.look(accountId)
    this.#sample()
  }

  get #afterMs(): number {
    return this.#dependencies.scheduler.nowMs - this.figures.atMs
  }

  #unitsOf(kind: LimitKind): SetAside {
    const { sliceServer, population, isLost } = this.#dependencies
    return slicedIdle(sliceServer, { kind, population }, (nodeId) => isLost({ nodeId }))
  }

  #sample(): void {
    const { scheduler, ledger, isLost } = this.#dependencies
    let amount = 0n
    let leases = 0
    for (const lease of ledger.active.values()) {
      if (!isLost(lease)) continue
      amount += lease.amount - lease.spent
      leases += 1
    }
    this.figures.remaining.push({ afterMs: this.#afterMs, amount, leases })
    if (leases > 0) scheduler.after(sampleEveryMs, () => this.#sample())
  }

  /** Records a rejection for want of credit, while the account had at least `available` outside of lost nodes. */
  refused({ accountId, floor, minimum }: PendingRequest, available: bigint): void {
    const required = floor > minimum ? floor : minimum
    const lost = this.#strandedOf(accountId)
    if (lost > 0n && available + lost >= required) this.figures.refusedAtMs.add(this.#afterMs)
  }

  /** Records the end of a request, whether it arrived before the loss or after. */
  ended({ outcome, limitMs, ledgerMs }: RequestEnd): void {
    const { failedAtMs, slowAtMs, slowBackAtMs } = this.figures
    const afterMs = this.#afterMs
    if (outcome === 'failed') failedAtMs.add(afterMs)
    else if (limitMs + ledgerMs > slowMs) (afterMs < lossMs ? slowAtMs : slowBackAtMs).add(afterMs)
  }

  #strandedOf(accountId: string): bigint {
    const { ledger, isLost } = this.#dependencies
    return ledger
      .activeOf(accountId)
      .filter(([, lease]) => isLost(lease))
      .reduce((sum, [, { amount, spent }]) => sum + amount - spent, 0n)
  }
}
