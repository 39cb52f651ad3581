import type { DashboardSession } from '../auth/find-api-key'
import { ApiError } from '../errors'

/** Finds the session of a cookie. */
export interface Sessions {
  /** Resolves with undefined without a session, and for an expired one. */
  signedIn: (headers: Headers) => Promise<DashboardSession | undefined>
}

/** An authentication header takes precedence over a session. Source: contract 2.1. */
export const hasKey = ({ headers }: Request) => headers.has('authorization')

/** Throws `insufficient_permissions` for a cross-site change. */
export function assertSameOrigin({ method, headers }: Request): void {
  if (method === 'GET' || method === 'HEAD') return
  const origin = headers.get('origin')
  if (origin && URL.parse(origin)?.host === headers.get('host')) return
  throw new ApiError('insufficient_permissions', {
    message: 'Cross-origin requests are not allowed for session-authenticated changes.',
    details: { required: ['same_origin'], current: [] },
  })
}
