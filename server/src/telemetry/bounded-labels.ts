/**
 * Something for each of a bounded number of names: the first ones get one of their own, all others share
 * one, so that nobody can make it grow.
 */
export class Bounded<Value> {
  readonly #most: number
  readonly #make: (name: string) => Value
  readonly #own = new Map<string, Value>()
  #rest: Value | undefined

  constructor(most: number, make: (name: string) => Value) {
    this.#most = most
    this.#make = make
  }

  /** Its own, if it has one already. */
  known(name: string): Value | undefined {
    return this.#own.get(name)
  }

  /** Makes one where there is room for it. */
  own(name: string): Value | undefined {
    const known = this.#own.get(name)
    if (known !== undefined || name === other || this.#own.size >= this.#most) return known
    const made = this.#make(name)
    this.#own.set(name, made)
    return made
  }

  /** Its own, or what those share that have none. */
  of(name: string): Value {
    return this.own(name) ?? (this.#rest ??= this.#make(other))
  }

  all(): Value[] {
    return this.#rest === undefined ? [...this.#own.values()] : [...this.#own.values(), this.#rest]
  }
}

/** What those are called that are not told apart. */
export const other = 'other'
