type Json = Record<string, unknown>

/** As Tollgate names an account, its end users and its caches to a provider whose credential accounts share. */
const identifier = /^[\da-f]{48}$/

export const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && identifier.test(value)

/** Returns what a provider was sent without the identifiers of the account, which tests of other things leave aside. */
export function withoutIdentifiers(body: Json): Json {
  const rest = Object.entries(body).filter(([name, value]) => !isIdentity(name, value))
  return Object.fromEntries(rest)
}

const isIdentity = (name: string, value: unknown): boolean =>
  isIdentifier(value) ||
  ((name === 'metadata' || name === 'requestMetadata') &&
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every(isIdentifier))
