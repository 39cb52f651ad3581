import { closeCodes } from '@tollgate/server/tunnel/frames'
import type { Ending } from './link'

/** Exit codes; a supervisor should not restart after 2 and above. */
export const exitCodes = { done: 0, failed: 1, usage: 2, revoked: 3, replaced: 4, version: 5 }

/** The decision after a socket ended: reconnect at once, after a while, or not at all. */
export type ReconnectDecision =
  | { next: 'at once' | 'later'; message: string }
  | { next: 'never'; message: string; exitCode: number }

const unknownToken =
  'Tollgate does not know this gateway token: it was revoked, or its gateway deleted. Create another gateway.'

/** Decides by the status of a rejected upgrade. */
function ofStatus(status: number): ReconnectDecision {
  switch (status) {
    case 401:
      return { next: 'never', message: unknownToken, exitCode: exitCodes.revoked }
    case 426:
      return {
        next: 'never',
        message:
          'Tollgate does not speak this version of the gateway protocol: update the older of the two.',
        exitCode: exitCodes.version,
      }
    case 404:
      return { next: 'later', message: 'there is no Tollgate with gateways at this address' }
    default:
      return { next: 'later', message: `Tollgate answered ${status}` }
  }
}

/** Source: docs/contribute/gateway-protocol.md, close codes. */
export function decideReconnect({ wasOpen, status, code, message }: Ending): ReconnectDecision {
  if (status !== undefined) return ofStatus(status)
  if (!wasOpen) return { next: 'later', message: `Tollgate was not reached: ${message}` }
  switch (code) {
    case closeCodes.shuttingDown:
      return { next: 'at once', message: 'Tollgate is shutting down' }
    case closeCodes.revoked:
      return { next: 'never', message: unknownToken, exitCode: exitCodes.revoked }
    case closeCodes.replaced:
      return {
        next: 'never',
        message:
          'Another agent connected with the same token and replaced this one. Give each agent its own gateway.',
        exitCode: exitCodes.replaced,
      }
    default:
      return { next: 'later', message: `the connection ended: ${message} (${code})` }
  }
}
