const rowsBetweenEvictions = 500
const maxWatchedAccounts = 10_000

/** Counts the rows that accounts added since the last check of their number. */
export class Additions {
  readonly #added = new Map<string, number>()

  /** Adds a row and returns whether a check is due. */
  isEvictionDue(userId: string): boolean {
    const rows = (this.#added.get(userId) ?? 0) + 1
    const isDue = rows > rowsBetweenEvictions
    if (isDue) this.#added.delete(userId)
    else {
      if (this.#added.size >= maxWatchedAccounts) this.#added.clear()
      this.#added.set(userId, rows)
    }
    return isDue
  }
}
