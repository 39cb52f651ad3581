import { z } from 'zod'
import { isContradiction } from './role-rules'
import { operatorRoles } from '../../../platform/operator-role'
import { Settings } from '../../../http/account-settings'
import { objectId } from '../../../http/answers'
import { pageFields, Pagination } from '../../../http/paging'
import { flag, searchText } from '../../../http/query'
import { line, trimmed } from '../../../http/fields'
import { Overrides } from '../../../http/limits'
import { customIssue } from '../../../wire/field-error'

const roleFields = {
  is_operator: z
    .boolean()
    .optional()
    .describe('True for the role `operator`, false for no role; `operator_role` has them all'),
  operator_role: z
    .enum(operatorRoles)
    .nullable()
    .optional()
    .describe('The role of an operator; null for a customer'),
}

type RoleFields = z.output<z.ZodObject<typeof roleFields>>

/** Rejects fields of a role that contradict each other. */
function checkRole(fields: RoleFields, ctx: z.RefinementCtx): void {
  if (!isContradiction(fields)) return
  const text = 'differs from "is_operator".'
  ctx.addIssue(customIssue('conflict', text, ['operator_role']))
}

export const NewUser = z
  .object({
    email: z.email().max(254).trim().toLowerCase(),
    display_name: line(100).optional(),
    ...roleFields,
    payment_method_required: z.boolean().optional(),
    plan_id: z.string().optional(),
    limits: Overrides.optional(),
  })
  .superRefine(checkRole)
  .meta({ ref: 'NewUser' })
export type NewUser = z.output<typeof NewUser>

export const ChangedUser = z
  .object({
    email: z.email().max(254).trim().toLowerCase().optional(),
    display_name: line(100).optional(),
    ...roleFields,
    payment_method_required: z.boolean().optional(),
    // Only the audit blocks; an operator uses `payment_method_required` or suspension instead.
    blocked: z.literal(false).optional(),
    plan_id: z.string().optional(),
    limits: Overrides.optional(),
  })
  .superRefine(checkRole)
  .meta({ ref: 'ChangedUser' })
export type ChangedUser = z.output<typeof ChangedUser>

export const Suspension = z.object({ reason: trimmed(500) }).meta({ ref: 'Suspension' })

/** The query of the list of accounts. */
export const UserFilter = z.object({
  status: z.enum(['active', 'suspended']).optional().describe('Only accounts with this status'),
  plan_id: objectId('plan').max(100).optional().describe('Only accounts on this plan'),
  is_operator: flag.optional().describe('Only full operators, or only other accounts'),
  operator_role: z.enum(operatorRoles).optional().describe('Only accounts with this role'),
  search: searchText('Text in the e-mail address or the display name'),
  ...pageFields,
})
export type UserFilter = Omit<z.output<typeof UserFilter>, keyof typeof pageFields>

/** A link that an operator hands to the owner of an account. */
export const SignInLink = z
  .object({
    link: z.url().describe('Signs in once. It is shown only in this answer.'),
    expires_at: z.iso.datetime(),
  })
  .meta({ ref: 'SignInLink' })
export type SignInLink = z.output<typeof SignInLink>

/** A line of an account's export. */
export const UserExportLine = z.object({
  table: z.string(),
  row: z.record(z.string(), z.unknown()),
})

/** An account as operators see it. */
export const User = Settings.extend({
  id: objectId('user'),
  status: z.enum(['active', 'suspended']),
  suspended_reason: z.string().nullable(),
  is_operator: z.boolean().describe('Whether the role is `operator`'),
  operator_role: z
    .enum(operatorRoles)
    .nullable()
    .describe('The role of an operator; null for a customer'),
  balance: z.number(),
  blocked: z.boolean().describe('The audit of the ledger found its account not in order.'),
  blocked_reason: z.string().nullable(),
  plan_id: z.string(),
  limits: z
    .object({
      requests_per_minute: z.int().nullable(),
      tokens_per_minute: z.int().nullable(),
      images_per_minute: z.int().nullable(),
      audio_seconds_per_minute: z.int().nullable(),
      concurrent_requests: z.int().nullable(),
      monthly_requests: z.int().nullable(),
      monthly_spend: z.number().nullable(),
    })
    .partial()
    .describe('Limits that override those of the plan; null removes a limit.'),
  last_active_at: z.iso
    .datetime()
    .nullable()
    .describe('The last request with a key, or, to the day, of a signed-in browser'),
}).meta({ ref: 'User' })

export const UserList = z
  .object({ users: z.array(User), pagination: Pagination })
  .meta({ ref: 'UserList' })
