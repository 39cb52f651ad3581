import { createHmac, hkdfSync } from 'node:crypto'

/** Accounts whose own identifier is kept; beyond these the one kept longest is derived again. */
const maxKept = 10_000

/** Of a SHA-256 in hexadecimal: as much as every provider accepts, and as 192 bits never the same twice. */
const length = 48

/**
 * The identifiers by which providers know the accounts that share a credential, and the end users and caches that these
 * name: HMACs under a secret of the installation. The same on every node and after every start; no account can give
 * itself the identifier of another, and none tells a provider more than that two requests belong together.
 */
export class AccountIdentifiers {
  readonly #key: Uint8Array
  readonly #cachedNames = new Map<string, string>()

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'tollgate provider identifiers', 32))
  }

  /** Returns an account's own identifier, which stands where the caller names none. */
  ofAccount(accountId: string): string {
    let identifier = this.#cachedNames.get(accountId)
    if (identifier !== undefined) return identifier
    identifier = this.#digest(accountId)
    if (this.#cachedNames.size >= maxKept) {
      const [oldest = ''] = this.#cachedNames.keys()
      this.#cachedNames.delete(oldest)
    }
    this.#cachedNames.set(accountId, identifier)
    return identifier
  }

  /** Returns the identifier of an end user or a cache that an account names. */
  ofName(accountId: string, name: unknown): string {
    const text = typeof name === 'string' ? name : JSON.stringify(name)
    // An id of an account has no line break.
    return this.#digest(`${accountId}\n${text}`)
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex').slice(0, length)
  }
}
