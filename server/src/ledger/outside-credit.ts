import type { LeaseAnswer } from './lease-answer'

const trustMs = 1000

/** The credit of an account outside this node's lease, as the ledger's last answer tells it. Nano-dollars. */
export class OutsideCredit {
  #amount = 0n
  #refusalAmount = 0n
  #untilMs = 0

  /** Notes an answer to a call that was sent at `requestedAtMs`. */
  note({ available, onOtherNodes, unanswered }: LeaseAnswer, requestedAtMs: number): void {
    this.#amount = available + onOtherNodes
    this.#refusalAmount = available + unanswered
    this.#untilMs = requestedAtMs + trustMs
  }

  /** All of it, with what running requests of other nodes hold. */
  get amount(): bigint {
    return this.#amount
  }

  /** The part that a refusal names as the account's: no other node has said that running requests hold it. */
  get refusalAmount(): bigint {
    return this.#refusalAmount
  }

  /** The end of the time for which the answer is trusted, by the monotonic clock in milliseconds. */
  get untilMs(): number {
    return this.#untilMs
  }
}
