import { limitKinds, type LimitKind } from './population'
import { Samples } from './samples'

/** The end of a request. */
export type Outcome = 'served' | 'no credit' | 'failed' | LimitKind

/** How a request ended, and the time for which it waited for the store of limits and for the ledger. Milliseconds. */
export interface RequestEnd {
  outcome: Outcome
  limitMs: number
  ledgerMs: number
}

const outcomes: readonly Outcome[] = ['served', 'no credit', 'failed', ...limitKinds]

/** The requests of one region in one phase of a run. */
export class TrafficFigures {
  readonly outcomes = new Map<Outcome, number>(outcomes.map((one) => [one, 0]))
  /** The time for which requests waited for the store of limits and for the ledger, in milliseconds. */
  readonly limitWaits = new Samples()
  readonly ledgerWaits = new Samples()
  readonly waits = new Samples()
  /** The same of requests that were rejected for want of credit. */
  readonly refusalWaits = new Samples()

  /** The number of requests that have ended. */
  get requests(): number {
    return this.waits.size
  }

  of(outcome: Outcome): number {
    return this.outcomes.get(outcome) ?? 0
  }

  add({ outcome, limitMs, ledgerMs }: RequestEnd): void {
    this.outcomes.set(outcome, this.of(outcome) + 1)
    this.limitWaits.add(limitMs)
    this.ledgerWaits.add(ledgerMs)
    this.waits.add(limitMs + ledgerMs)
    if (outcome === 'no credit') this.refusalWaits.add(ledgerMs)
  }
}
