import type { LimitKind, Population } from './population'
import { Samples } from './samples'
import type { AccountObserver } from '../accounts'
import { usedOf } from '../../src/limits/slices/slice-document'
import type { ReferenceLease } from '../../testing/ledger/reference-leases'
import type { ReferenceLedger } from '../../testing/ledger/reference-ledger'
import type { SimulatedSliceServer } from '../../testing/limits/simulated-slice-store'

/** Amounts that nodes have set aside, of accounts or limits that have any, and the share of each balance or limit. */
export interface SetAside {
  amounts: Samples
  shares: Samples
  /** The nodes that have a part of it. */
  parts: Samples
}

const empty = (): SetAside => ({
  amounts: new Samples(),
  shares: new Samples(),
  parts: new Samples(),
})

/**
 * Returns the credit in leases that no request has used or holds, by account; `isCounted` chooses leases. Amounts are
 * nano-dollars.
 */
export function leasedIdle(
  ledger: ReferenceLedger,
  observer: AccountObserver,
  isCounted: (lease: ReferenceLease) => boolean = () => true,
): SetAside {
  const byAccount = new Map<string, { idle: bigint; leases: number }>()
  for (const [id, lease] of ledger.active) {
    if (!isCounted(lease)) continue
    const { held, unbooked } = observer.useOf(id)
    const sum = byAccount.get(lease.accountId) ?? { idle: 0n, leases: 0 }
    sum.idle += lease.amount - lease.spent - held - unbooked
    sum.leases += 1
    byAccount.set(lease.accountId, sum)
  }
  const all = empty()
  for (const [accountId, { idle, leases }] of byAccount) {
    const { posted } = ledger.account(accountId)
    all.amounts.add(Number(idle))
    all.shares.add(posted > 0n ? Number(idle) / Number(posted) : 0)
    all.parts.add(leases)
  }
  return all
}

/** Returns the units in slices that are not in use, by limits of a kind; `isCounted` chooses nodes. */
export function slicedIdle(
  server: SimulatedSliceServer,
  { kind, population }: { kind: LimitKind; population: Population },
  isCounted: (node: string) => boolean = () => true,
): SetAside {
  const all = empty()
  const { nowMs } = server.read([])
  for (const [bucket, document] of server.documents()) {
    if (!bucket.startsWith(`${kind}:`)) continue
    const slices = Object.entries(document).filter(([node, { hasLeft }]) => {
      return !hasLeft && isCounted(node)
    })
    if (slices.length === 0) continue
    const idle = slices.map(([, slice]) => Math.max(0, slice.units - usedOf(slice, nowMs)))
    const sum = idle.reduce((a, b) => a + b, 0)
    all.amounts.add(sum)
    all.shares.add(sum / population.limitOf(Number(bucket.split('-')[1]), kind))
    all.parts.add(slices.length)
  }
  return all
}
