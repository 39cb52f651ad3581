import type { SignedIn } from '../auth/look-up'
import { ApiError } from '../errors'

/** Who a cookie says is calling. */
export interface Sessions {
  /** Undefined where there is no session, or none that is still good. */
  signedIn: (headers: Headers) => Promise<SignedIn | undefined>
}

/** A header that says who calls counts alone. Source: contract 2.1. */
export const hasKey = ({ headers }: Request) => headers.has('authorization')

/** Throws `insufficient_permissions` for a change that another site has a browser ask for. */
export function assertSameOrigin({ method, headers }: Request): void {
  if (method === 'GET' || method === 'HEAD') return
  const origin = headers.get('origin')
  if (origin && URL.parse(origin)?.host === headers.get('host')) return
  throw new ApiError('insufficient_permissions', {
    message: 'A change by a session has to come from the pages of this service.',
    details: { required: ['same_origin'], current: [] },
  })
}
