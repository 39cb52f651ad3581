/** A claim of `claim_lease` (migration 0055), with the clock of a test. Amounts are nano-dollars. */
export interface ReferenceTake {
  leaseId: string
  generation: number
  accountId: string
  nodeId: string
  need: bigint
  spare?: bigint
  wish: bigint
  isReclaiming: boolean
  nodes: number
  demandMs?: number
  nowMs: number
  /** The moment at which its node read what it needs and has to spare; now by default. */
  askedMs?: number
  /** The last reclaim that its node had received by then. */
  lastReclaim?: bigint
}

/** Returns the time of a reclaim, in microseconds, that identifies it. */
export const toReclaimTime = (ms: number): bigint => BigInt(Math.round(ms * 1000))
