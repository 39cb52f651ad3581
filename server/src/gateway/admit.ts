import type { GatewayPorts } from './ports'
import type { RequestLifecycle } from './settle'
import type { Admission } from '../limits/limits'
import type { WindowReservation } from '../metering/window-reservation'
import { rejectForwardingLoop } from '../wire/forwarding-loop'

/**
 * Admits an authenticated request: counts it against monthly limits and budgets, which few accounts have, then by the minute.
 * Throws or rejects with `invalid_request` for a request in a
 * forwarding loop, and with the errors of the limits.
 */
export function admit(lifecycle: RequestLifecycle, ports: GatewayPorts): undefined | Promise<void> {
  const { call, principal } = lifecycle
  rejectForwardingLoop(call.hops)
  if (principal.limits.windows.length > 0) return admitWithinLimits(lifecycle, ports)
  const admission = ports.limits.admit(principal)
  if (admission instanceof Promise) return admitLater(lifecycle, admission)
  lifecycle.onAdmitted(admission)
  return undefined
}

async function admitLater(
  lifecycle: RequestLifecycle,
  admission: Promise<Admission>,
): Promise<void> {
  lifecycle.onAdmitted(await admission)
}

async function admitWithinLimits(lifecycle: RequestLifecycle, ports: GatewayPorts): Promise<void> {
  const spending = await reserveSpending(lifecycle, ports)
  try {
    lifecycle.onAdmitted(await ports.limits.admit(lifecycle.principal), spending)
  } catch (thrown) {
    spending.end()
    throw thrown
  }
}

/** A caller above such a limit gets its quota all the same. */
async function reserveSpending(
  { call, principal }: RequestLifecycle,
  { limits, spendingLimits }: GatewayPorts,
): Promise<WindowReservation> {
  try {
    return await spendingLimits.admit(principal)
  } catch (thrown) {
    call.reportQuota(await limits.readQuota(principal.limits.requests))
    throw thrown
  }
}
