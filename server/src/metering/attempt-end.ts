import type { Settled } from '../ledger/slice'
import type { AttemptEnd, TokenCounts } from '../ledger/usage-event'
import type { Usage } from '../wire/usage'

const nothing: TokenCounts = {
  input: 0,
  cachedInput: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  audioInput: 0,
  audioOutput: 0,
}

/** How an attempt stands that has not ended. */
export const unused: AttemptEnd = {
  leaseId: null,
  outcome: 'open',
  reason: null,
  state: 'settled',
  durationMs: 0,
  firstTokenMs: null,
  tokens: nothing,
  estimated: false,
  cost: 0n,
  fromLease: 0n,
  price: null,
}

interface Ended {
  outcome: string
  used: Usage | undefined
  cost: bigint
  price: bigint | null
  settled: Settled | undefined
}

/** The end of the last attempt of a request. */
export const endOf = ({ outcome, used, cost, price, settled }: Ended): AttemptEnd => ({
  leaseId: settled ? settled.leaseId : null,
  outcome,
  reason: null,
  state: 'settled',
  durationMs: 0,
  firstTokenMs: null,
  tokens: used ? countsOf(used) : nothing,
  estimated: used ? used.estimated : false,
  cost,
  fromLease: settled ? settled.fromLease : 0n,
  price,
})

const countsOf = (usage: Usage): TokenCounts => ({
  input: usage.input,
  cachedInput: usage.cachedInput,
  cacheWrite: usage.cacheWrite,
  output: usage.output,
  reasoning: usage.reasoning,
  audioInput: usage.audioInput,
  audioOutput: usage.audioOutput,
})
