import { z } from 'zod'
import {
  attemptedFields,
  checkPeriod,
  listedFields,
  logFilterFields,
  loggedFields,
} from '../../account/request-logs/schema'
import { objectId } from '../../../http/answers'
import { pageFields, Pagination } from '../../../http/paging'
import { customIssue } from '../../../wire/field-error'

const dayMs = 86_400_000

/** The longest period of a list of all accounts: no index has their logs, so that all rows of its days are read. */
const maxDays = 7

const fields = {
  user_id: objectId('user').max(100).optional().describe('Only requests of this account'),
  ...logFilterFields,
  start_date: logFilterFields.start_date.describe(
    `Only requests from this time or day on; without \`user_id\` the last day where it is absent, and at most ${maxDays} days before the end`,
  ),
}

/** Filters of the logs of all accounts. Source: contract 9.2. */
export const OperatedLogQuery = z.object({ ...fields, ...pageFields }).superRefine((query, ctx) => {
  checkPeriod(query, ctx)
  const { user_id: userId, start_date: start, end_date: end, search } = query
  // A part of an id bounds the period by itself.
  if (userId !== undefined || !start || (search && 'firstId' in search)) return
  const days = ((end?.getTime() ?? Date.now()) - start.getTime()) / dayMs
  // The day of the end counts in full.
  if (days <= maxDays + 1) return
  const text = `must be at most ${maxDays} days before the end without "user_id".`
  ctx.addIssue(customIssue('out_of_range', text, ['start_date']))
})
export type OperatedLogFilter = Omit<z.output<typeof OperatedLogQuery>, keyof typeof pageFields>

const owner = {
  user_id: z.string().describe('The account that sent it'),
  email: z.string().nullable().describe('Its e-mail address; null for a deleted account'),
}

const margin = {
  revenue: z
    .number()
    .nullable()
    .describe(
      'USD of `cost` that the operator keeps: all but the earnings of an organization; null, as all margins, for the role `support`',
    ),
  provider_cost: z
    .number()
    .nullable()
    .describe('USD that the provider bills the operator; null where that is unknown'),
  margin: z.number().nullable().describe('USD: `revenue` less `provider_cost`'),
}

const OperatedLog = z.object({ ...owner, ...listedFields }).meta({ ref: 'OperatedRequestLog' })

export const OperatedLogList = z.object({ logs: z.array(OperatedLog), pagination: Pagination })

/** A request as operators see it: bodies are for the account alone. */
export const OperatedLogDetails = z
  .object({ ...owner, ...loggedFields, ...attemptedFields, ...margin })
  .meta({ ref: 'OperatedRequestLogDetails' })
export type OperatedLogDetails = z.output<typeof OperatedLogDetails>
