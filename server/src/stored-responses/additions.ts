/** The bytes that an account may add before its oldest entries are checked. */
const bytesBetweenEvictions = 16 * 1024 * 1024
const rowsBetweenEvictions = 500
const maxWatchedAccounts = 10_000

interface Added {
  bytes: number
  rows: number
}

/** Counts the bytes that accounts added since the last check of their limits. */
export class Additions {
  readonly #added = new Map<string, Added>()

  /** Adds bytes and returns whether a check is due. */
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
