import type { CheckoutFields } from './schema'
import { invalidRequest } from '../../../errors'

const billingPage = '/billing'

interface Allowed {
  /** The address of this service, without a final slash. */
  ownAddress: string
  /** Set by the operator. */
  origins: readonly string[]
}

type Field = 'success_url' | 'cancel_url'

/**
 * Allows return addresses of the payment page only on this service and on origins that the operator allows: any
 * other would borrow the trust in the checkout. Throws `invalid_request`.
 */
export function checkReturnUrls(
  fields: Pick<CheckoutFields, Field>,
  allowed: Allowed,
): (id: string) => { success: string; cancel: string } {
  const success = checked('success_url', fields, allowed)
  const cancel = checked('cancel_url', fields, allowed)
  const page = `${allowed.ownAddress}${billingPage}`
  return (id) => ({
    success: success ?? `${page}?checkout=${id}`,
    cancel: cancel ?? page,
  })
}

function checked(
  field: Field,
  fields: Pick<CheckoutFields, Field>,
  { ownAddress, origins }: Allowed,
): string | undefined {
  const text = fields[field]
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isAddress = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isAddress) {
    throw invalidRequest(field, 'bad_format', `${field}: must be an absolute http or https URL.`)
  }
  if (url.origin === new URL(ownAddress).origin || origins.includes(url.origin)) return text
  const message = `${field}: ${url.origin} is neither the origin of this service nor an allowed origin.`
  throw invalidRequest(field, 'not_allowed', message)
}
