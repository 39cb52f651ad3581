import { invalidRequest } from '../errors'

/** The header that counts the Tollgates through which a request has passed. */
export const hopsHeader = 'x-tollgate-hops'

/** One Tollgate may stand behind another; a third pass is a loop, and costs each time. */
const maxHops = 1

/** Reads the header's count; returns more than is allowed for a value that no Tollgate would send. */
export function toHops(header: string | null): number {
  if (header === null) return 0
  return /^\d{1,3}$/.test(header) ? Number(header) : maxHops + 1
}

/** Throws `invalid_request` where a request has come back to the gateway that sent it. */
export function rejectForwardingLoop(hops: number): void {
  if (hops <= maxHops) return
  throw invalidRequest(
    null,
    'not_allowed',
    'Forwarding loop: a connection leads back to this gateway.',
  )
}
