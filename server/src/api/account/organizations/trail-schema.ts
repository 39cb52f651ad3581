import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { timestamp } from '../../../http/fields'
import { actionFilters } from '../../../audit-log/organization-trail'

const text = z.string().max(256).optional()

/** Filters of the list. */
export const OrganizationTrailFilter = z.object({
  actor: text.describe('ID of the acting account, `operator` or `system`'),
  action: z
    .enum(actionFilters)
    .optional()
    .describe('An action such as `member.suspended`, or `member` for all actions on members'),
  object_id: text.describe('ID of the changed object'),
  from: timestamp.optional().describe('Only changes at or after this time'),
  to: timestamp.optional().describe('Only changes before this time'),
})
export type OrganizationTrailFilter = z.output<typeof OrganizationTrailFilter>

const fields = z.record(z.string(), z.unknown()).nullable()

const OrganizationChange = z
  .object({
    id: objectId('trail'),
    actor: objectId('user').describe('An account, `operator`, or `system` for automatic changes'),
    actor_email: z
      .string()
      .nullable()
      .describe('The address of the account at that time; a placeholder after its erasure'),
    key_id: z
      .string()
      .nullable()
      .meta({
        description: 'The key, or `session` for a signed-in account; null if no account acted',
        examples: ['session'],
      }),
    action: z.string().meta({ examples: ['member.role_changed'] }),
    object_id: objectId('user').describe('The changed object'),
    object_name: z
      .string()
      .nullable()
      .meta({
        description: 'Its name at that time; the address of members and invitations',
        examples: ['ada@example.com'],
      }),
    before: fields.meta({
      description: 'The differing fields before the change; null for a new object',
      examples: [{ role: 'member' }],
    }),
    after: fields.meta({
      description: 'The same fields after the change; null for a deleted object',
      examples: [{ role: 'developer' }],
    }),
    request_id: z.string().nullable(),
    client_address: z
      .string()
      .nullable()
      .meta({
        description: 'The network address of the client',
        examples: ['203.0.113.7'],
      }),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'OrganizationChange' })

export const OrganizationTrail = z
  .object({ changes: z.array(OrganizationChange), pagination: Pagination })
  .meta({ ref: 'OrganizationTrail' })

/** A line of the download. */
export const OrganizationEntryLine = OrganizationChange.extend({
  log: z.literal('organization'),
  organization_id: objectId('org'),
}).meta({ ref: 'OrganizationEntryLine' })
