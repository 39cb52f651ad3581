/** What a request needs of an account. Amounts are nano-dollars. */
export interface Need {
  /** Its worst case. */
  full: bigint
  /** The worst case with the least output that is worth a request; at most `full`. */
  floor: bigint
  /** What an account must have for anything, 0 for a hold that extends another. */
  minimum: bigint
}

/** The account has not enough, on all nodes. Amounts are nano-dollars. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly available: bigint
  readonly needed: bigint

  constructor(available: bigint, needed: bigint) {
    super('not enough credit')
    this.available = available
    this.needed = needed
  }
}

/** The larger of two amounts. */
export const larger = (a: bigint, b: bigint) => (a > b ? a : b)

/** What a slice must have free for the whole of a need. */
export const wanted = ({ full, minimum }: Need) => larger(full, minimum)

/** What it must have for as little as is worth a request. */
export const least = ({ floor, minimum }: Need) => larger(floor, minimum)
