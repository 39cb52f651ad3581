/**
 * Values for a bounded number of names: the first names get one of their own, all others share one, so that no caller
 * can make it grow.
 */
export class Bounded<Value> {
  readonly max: number
  readonly #make: (name: string) => Value
  readonly #own = new Map<string, Value>()
  #rest: Value | undefined

  constructor(max: number, make: (name: string) => Value) {
    this.max = max
    this.#make = make
  }

  /** Returns the name's own value, if it has one already. */
  findOwn(name: string): Value | undefined {
    return this.#own.get(name)
  }

  /** Creates a value of its own where there is room for it. */
  own(name: string): Value | undefined {
    const knownValue = this.#own.get(name)
    if (knownValue !== undefined || name === other || this.#own.size >= this.max) return knownValue
    const created = this.#make(name)
    this.#own.set(name, created)
    return created
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
