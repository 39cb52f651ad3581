import { closeCodes } from '../../server/src/tunnel/frames'
import type { Ending } from './link'

/** Exit codes; a supervisor should not restart after 2 and above. */
export const exitCodes = { done: 0, failed: 1, usage: 2, revoked: 3, replaced: 4, version: 5 }

/** The decision after a socket ended: reconnect at once, after a while, or not at all. */
export type Verdict =
  | { next: 'at once' | 'later'; words: string }
  | { next: 'never'; words: string; exitCode: number }

const refused =
  'Tollgate does not know this gateway token: it was revoked, or its gateway deleted. Create another gateway.'

/** Decides by the status of a rejected upgrade. */
function ofStatus(status: number): Verdict {
  switch (status) {
    case 401:
      return { next: 'never', words: refused, exitCode: exitCodes.revoked }
    case 426:
      return {
        next: 'never',
        words:
          'Tollgate does not speak this version of the gateway protocol: update the older of the two.',
        exitCode: exitCodes.version,
      }
    case 404:
      return { next: 'later', words: 'there is no Tollgate with gateways at this address' }
    default:
      return { next: 'later', words: `Tollgate answered ${status}` }
  }
}

/** Source: docs/gateway-protocol.md, close codes. */
export function verdict({ wasOpen, status, code, words }: Ending): Verdict {
  if (status !== undefined) return ofStatus(status)
  if (!wasOpen) return { next: 'later', words: `Tollgate was not reached: ${words}` }
  switch (code) {
    case closeCodes.shuttingDown:
      return { next: 'at once', words: 'Tollgate is shutting down' }
    case closeCodes.revoked:
      return { next: 'never', words: refused, exitCode: exitCodes.revoked }
    case closeCodes.replaced:
      return {
        next: 'never',
        words:
          'Another agent connected with the same token and replaced this one. Give each agent its own gateway.',
        exitCode: exitCodes.replaced,
      }
    default:
      return { next: 'later', words: `the connection ended: ${words} (${code})` }
  }
}
