import { Breakers, type BreakerChange } from '../../src/routing/breakers'
import type { Candidate } from '../../src/routing/candidate'
import { sampleCandidate } from './candidate'
import { sampleConnection, sampleModel } from '../catalog/samples'

/** A model on a connection, the same each time. */
export const candidateOf = (
  connection: string,
  model = 'fake/one',
  owner: string | null = null,
): Candidate =>
  sampleCandidate({
    connection: sampleConnection({ id: connection, owner }),
    model: sampleModel({ id: model }),
  })

/** The candidate and the account of a test that needs no other. */
export const one = candidateOf('conn_1')
export const alone = 'user_1'

/** Ids of accounts, beginning with a number. */
export const accounts = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, k) => `user_${from + k}`)

interface Sent {
  candidate?: Candidate
  account?: string
  busyMs?: number
  isShared?: boolean
}

/** Breakers with a clock of their own. */
export class BreakerWorld {
  nowMs = 1000
  readonly changes: BreakerChange[] = []
  readonly breakers: Breakers

  constructor(options: { maxAccounts?: number; maxPerAccount?: number; maxOpenMs?: number } = {}) {
    this.breakers = new Breakers({
      now: () => this.nowMs,
      maxOpenMs: 30_000,
      onChange: (change) => void this.changes.push(change),
      ...options,
    })
  }

  /** Makes attempts that fail, one after the other. */
  fail(times = 1, sent: Sent = {}): void {
    const { candidate = one, account = alone, busyMs = 0, isShared = true } = sent
    for (let k = 0; k < times; k++) {
      this.breakers.recordFailure(this.breakers.begin(candidate, account), { busyMs, isShared })
    }
  }

  /** Makes attempts that are answered. */
  succeed(times = 1, { candidate = one, account = alone }: Sent = {}): void {
    for (let k = 0; k < times; k++) {
      this.breakers.recordSuccess(this.breakers.begin(candidate, account))
    }
  }

  waitMs(account = alone, candidate = one): number {
    return this.breakers.waitMs(candidate, account)
  }
}
