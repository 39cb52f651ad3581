import { APIError } from 'better-auth/api'

const fields = ['callbackURL', 'redirectTo', 'errorCallbackURL', 'newUserCallbackURL']

/**
 * Throws for a return address outside of the configured origin. The library accepts the origin of the request too, which
 * its sender chooses by the `Host` header: mails would carry it.
 */
export function checkReturnAddresses(body: Readonly<Record<string, unknown>>, base: string): void {
  const { origin } = new URL(base)
  const foreign = fields.find((field) => {
    const value = body[field]
    return typeof value === 'string' && URL.parse(value, origin)?.origin !== origin
  })
  if (foreign === undefined) return
  const message = `${foreign} must be a path of this service, such as "/".`
  throw new APIError('FORBIDDEN', { code: 'INVALID_CALLBACK_URL', message })
}
