/**
 * Values for a bounded number of names: the first names get one of their own, all others share one, so that no caller
 * can make it grow.
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

  /** Returns the name's own value, if it has one already. */
  known(name: string): Value | undefined {
    return this.#own.get(name)
  }

  /** Creates a value of its own where there is room for it. */
  own(name: string): Value | undefined {
    const known = this.#own.get(name)
    if (known !== undefined || name === other || this.#own.size >= this.#most) return known
    const made = this.#make(name)
    this.#own.set(name, made)
    return made
  }

  /** Returns the name's own value, or the shared one. */
  of(name: string): Value {
    return this.own(name) ?? (this.#rest ??= this.#make(other))
  }

  all(): Value[] {
    return this.#rest === undefined ? [...this.#own.values()] : [...this.#own.values(), this.#rest]
  }
}

/** The shared name of values that are not distinguished. */
export const other = 'other'
