/** How much an account may add before its oldest are looked for. */
const bytesBetweenEvictions = 16 * 1024 * 1024
const rowsBetweenEvictions = 500
const maxWatchedAccounts = 10_000

interface Added {
  bytes: number
  rows: number
}

/** What accounts added since it was last looked whether they keep too much. */
export class Additions {
  readonly #added = new Map<string, Added>()

  /** Whether it is time to look. */
  isEvictionDue(userId: string, bytes: number): boolean {
    const added = this.#added.get(userId) ?? { bytes: 0, rows: 0 }
    const sum = { bytes: added.bytes + bytes, rows: added.rows + 1 }
    const isDue = sum.bytes > bytesBetweenEvictions || sum.rows > rowsBetweenEvictions
    if (isDue) this.#added.delete(userId)
    else {
      if (this.#added.size >= maxWatchedAccounts) this.#added.clear()
      this.#added.set(userId, sum)
    }
    return isDue
  }
}
