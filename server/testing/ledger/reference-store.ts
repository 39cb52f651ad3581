import type { LeaseStore } from '../../src/ledger/lease-store'
import type { ReferenceLedger } from './reference-ledger'

interface Ports {
  /** Runs work at the database, and answers, as far as both messages arrive. */
  call: <Result>(work: () => Result) => Promise<Result>
  nodeId: () => string
  nowMs: () => number
  onReclaim: (accountId: string, at: bigint) => void
  onCredit: (accountId: string) => void
}

/**
 * Creates a node's lease statements on a ledger of plain objects, with three nodes, in a database that is always
 * reported gone.
 */
export function createReferenceStore(ledger: ReferenceLedger, ports: Ports): LeaseStore {
  const { call, nodeId, nowMs, onReclaim, onCredit } = ports
  return {
    take: (lease) => {
      const taker = { nodeId: nodeId(), nodes: 3 }
      const onRecall = (at: bigint) => onReclaim(lease.accountId, at)
      const tell = () => onCredit(lease.accountId)
      return call(() =>
        ledger.take({ ...lease, ...taker, nowMs: nowMs() }, { onRecall, onCredit: tell }),
      )
    },
    fence: (lease) => call(() => ledger.fence({ ...lease, nodeId: nodeId(), nowMs: nowMs() })),
    renew: (ids) => call(() => ledger.renew(ids, nowMs())),
    giveBack: (returns, options) =>
      call(() => {
        const answers = ledger.giveBack(returns, options)
        const leases = returns.flatMap(({ leaseId }) => ledger.leases.get(leaseId) ?? [])
        for (const { accountId } of leases) onCredit(accountId)
        return answers
      }),
    isUndone: () => false,
    isAlive: () => Promise.resolve(false),
    roundTripMs: 0,
  }
}
