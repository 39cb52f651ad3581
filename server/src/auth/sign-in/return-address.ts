import { APIError } from 'better-auth/api'

const fields = ['callbackURL', 'redirectTo', 'errorCallbackURL', 'newUserCallbackURL']

/**
 * Throws for a return address outside of the configured origin. The library accepts the origin of the request too, which
 * its sender chooses by the `Host` header: mails would carry it.
 */
export function checkReturnAddresses(body: Readonly<Record<string, unknown>>, base: string): void {
  const { origin } = new URL(base)
  const foreignField = fields.find((field) => {
    const value = body[field]
    // The library refuses what is no text.
    return typeof value === 'string' && toOwnPath(value, [origin]) === undefined
  })
  if (foreignField === undefined) return
  const message = `${foreignField} must be a path of this service, such as "/".`
  throw new APIError('FORBIDDEN', { code: 'INVALID_CALLBACK_URL', message })
}

/** Returns the path of an address of the service, undefined for another site. */
export function toOwnPath(to: string, origins: readonly string[]): string | undefined {
  const url = URL.parse(to, origins[0])
  // The library lets links lead to `/.//other.example`; a path with two slashes at its head is another site's address.
  if (!url || !origins.includes(url.origin) || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}
