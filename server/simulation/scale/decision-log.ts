import { limitKinds, type LimitKind } from './population'
import type { Decision } from '../limits-world'

/** A decision about one limit of an account. */
export interface LoggedDecision extends Pick<
  Decision,
  'node' | 'atMs' | 'durationMs' | 'weight' | 'isAdmitted'
> {
  account: number
  kind: LimitKind
}

/** The numbers of one decision in the log. */
const fields = 8
const [bucketAt, nodeAt, atAt, durationAt, weightAt, admittedAt, endAt, deltaAt] = [
  0, 1, 2, 3, 4, 5, 6, 7,
]

/** All decisions about limits of a run, in one array of numbers: they are millions. */
export class DecisionLog {
  #numbers = new Float64Array(1024 * fields)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds a decision; returns its number, for `end`. */
  add({ account, kind, node, atMs, durationMs, weight, isAdmitted }: LoggedDecision): number {
    const from = this.#size * fields
    if (from === this.#numbers.length) {
      const larger = new Float64Array(2 * from)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    const bucket = account * limitKinds.length + limitKinds.indexOf(kind)
    const row = [bucket, node, atMs, durationMs, weight, Number(isAdmitted), -1, 0]
    this.#numbers.set(row, from)
    return this.#size++
  }

  /** Records that an admitted request ended, and its use beyond the weight. */
  end(decision: number, { atMs, delta }: { atMs: number; delta: number }): void {
    this.#numbers[decision * fields + endAt] = atMs
    this.#numbers[decision * fields + deltaAt] = delta
  }

  /** Yields the decisions about each limit. */
  *byLimit(): Iterable<{ account: number; kind: LimitKind; decisions: Decision[] }> {
    const order = this.#orderByBucket()
    for (let from = 0; from < order.length;) {
      const bucket = this.#at(order[from] ?? 0, bucketAt)
      let to = from
      while (to < order.length && this.#at(order[to] ?? 0, bucketAt) === bucket) to++
      const kind = limitKinds[bucket % limitKinds.length]
      const account = Math.floor(bucket / limitKinds.length)
      const decisions = Array.from(order.subarray(from, to), (one) => this.#decision(one))
      if (kind) yield { account, kind, decisions }
      from = to
    }
  }

  /** The numbers of decisions, those about one limit together, in the order of their time. */
  #orderByBucket(): Uint32Array {
    const order = Uint32Array.from({ length: this.#size }, (_, at) => at)
    return order.toSorted((a, b) => this.#at(a, bucketAt) - this.#at(b, bucketAt) || a - b)
  }

  #at(decision: number, field: number): number {
    return this.#numbers[decision * fields + field] ?? 0
  }

  #decision(one: number): Decision {
    const endMs = this.#at(one, endAt)
    return {
      node: this.#at(one, nodeAt),
      atMs: this.#at(one, atAt),
      durationMs: this.#at(one, durationAt),
      weight: this.#at(one, weightAt),
      isAdmitted: this.#at(one, admittedAt) === 1,
      waitMs: 0,
      end: endMs < 0 ? undefined : { atMs: endMs, delta: this.#at(one, deltaAt) },
    }
  }
}
