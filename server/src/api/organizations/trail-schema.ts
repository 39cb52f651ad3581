import { z } from 'zod'
import { Pagination } from '../../http/documentation'
import { timestamp } from '../../http/fields'
import { askedFor } from '../../trail/organization-trail'

const text = z.string().max(256).optional()

/** What the list may be narrowed to. */
export const OrganizationTrailFilter = z.object({
  /** An account's id, `operator` or `system`. */
  actor: text,
  /** `member.suspended`, or `member` for all that can become of members. */
  action: z.enum(askedFor).optional(),
  object_id: text,
  from: timestamp.optional(),
  /** Not this moment itself. */
  to: timestamp.optional(),
})
export type OrganizationTrailFilter = z.output<typeof OrganizationTrailFilter>

const fields = z.record(z.string(), z.unknown()).nullable()

const OrganizationChange = z
  .object({
    id: z.string(),
    actor: z.string().describe('An account, `operator`, or `system` for what nobody asked for.'),
    actor_email: z
      .string()
      .nullable()
      .describe('Of the account, as it was then; of one that was erased it names nobody.'),
    key_id: z
      .string()
      .nullable()
      .describe('The key, or `session` where somebody was signed in; null where no account acted.'),
    action: z.string().meta({ examples: ['member.role_changed'] }),
    object_id: z.string(),
    object_name: z
      .string()
      .nullable()
      .describe('What it was called; of members and invitations the address.'),
    before: fields.describe('Fields that differ, as they were; null for what is new.'),
    after: fields.describe('The same, as they became; null for what is gone.'),
    request_id: z.string().nullable(),
    client_address: z.string().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'OrganizationChange' })

export const OrganizationTrail = z
  .object({ changes: z.array(OrganizationChange), pagination: Pagination })
  .meta({ ref: 'OrganizationTrail' })
