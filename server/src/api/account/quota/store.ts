import { estimate, type QuotaEstimatePorts } from './estimate'
import { readHistory, type QuotaHistoryFilter } from './history'
import { limitOf, toStoredLimit } from './limit-values'
import { listOwnRequests, toQuotaRequest } from './request-store'
import type { NewEstimate, NewQuotaRequest } from './schema'
import { readStatus, type StatusPorts } from './status'
import { readAccountLimits } from '../../../auth/account-limits'
import type { Principal } from '../../../auth/principal'
import { newId } from '../../../platform/db/id'
import { isUniqueViolation } from '../../../platform/db/violation'
import { invalidRequest } from '../../../errors'
import type { Page } from '../../../http/paging'

export interface QuotaPorts extends StatusPorts, QuotaEstimatePorts {}

export type QuotaStore = ReturnType<typeof createQuotaStore>

/** The limits of accounts, and their usage. */
export const createQuotaStore = (ports: QuotaPorts) => ({
  status: (userId: string) => readStatus(ports, userId),
  history: (userId: string, page: Page, filter: QuotaHistoryFilter) =>
    readHistory(ports.db, userId, { page, filter }),
  estimate: (principal: Principal, request: NewEstimate) => estimate(ports, principal, request),
  requests: (userId: string, page: Page) => listOwnRequests(ports.db, userId, page),
  requestIncrease: (userId: string, request: NewQuotaRequest) =>
    requestIncrease(ports, userId, request),
})

async function requestIncrease(
  { db }: QuotaPorts,
  userId: string,
  { quota_type: type, requested_limit: requestedLimit, reason }: NewQuotaRequest,
) {
  const requested = toStoredLimit(type, requestedLimit, 'requested_limit')
  const { limits } = await readAccountLimits(db, userId)
  const current = limitOf(limits, type)
  if (current === null || requested <= current) {
    const explanation =
      current === null ? 'this quota is unlimited.' : 'must be higher than the current limit.'
    throw invalidRequest('requested_limit', 'out_of_range', `requested_limit: ${explanation}`)
  }
  const row = await db
    .insertInto('quota_request')
    .values({
      id: newId('qreq'),
      user_id: userId,
      quota_type: type,
      current_limit: current,
      requested_limit: requested,
      reason,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((thrown: unknown) => {
      if (!isUniqueViolation(thrown)) throw thrown
      const message = 'quota_type: a request for this quota is already pending.'
      throw invalidRequest('quota_type', 'duplicate', message)
    })
  return toQuotaRequest(row)
}
