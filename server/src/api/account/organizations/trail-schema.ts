import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { timestamp } from '../../../http/fields'
import { askedFor } from '../../../audit-log/organization-trail'

const text = z.string().max(256).optional()

/** Filters of the list. */
export const OrganizationTrailFilter = z.object({
  /** An account's id, `operator` or `system`. */
  actor: text,
  /** `member.suspended`, or `member` for all actions on members. */
  action: z.enum(askedFor).optional(),
  object_id: text,
  from: timestamp.optional(),
  /** Exclusive. */
  to: timestamp.optional(),
})
export type OrganizationTrailFilter = z.output<typeof OrganizationTrailFilter>

const said = (description: string, ...examples: unknown[]) => ({
  description,
  ...(examples.length > 0 && { examples }),
})

const fields = z.record(z.string(), z.unknown()).nullable()
const account = 'user_01k9z3t6c8q4v7x2m5n0p1r3s4'

const OrganizationChange = z
  .object({
    id: z.string().meta({ examples: ['trail_01k9z3t6c8q4v7x2m5n0p1r3s4'] }),
    actor: z
      .string()
      .meta(said('An account, `operator`, or `system` for what nobody asked for.', account)),
    actor_email: z
      .string()
      .nullable()
      .meta(said('Of the account, as it was then; of one that was erased it names nobody.')),
    key_id: z
      .string()
      .nullable()
      .meta(
        said(
          'The key, or `session` for who was signed in; null where no account acted.',
          'session',
        ),
      ),
    action: z.string().meta(said('What became of what.', 'member.role_changed')),
    object_id: z.string().meta(said('What it was about.', account)),
    object_name: z
      .string()
      .nullable()
      .meta(said('Its name then; the address of members and invitations.', 'ada@example.com')),
    before: fields.meta(
      said('Fields that differ, as they were; null for what is new.', { role: 'member' }),
    ),
    after: fields.meta(
      said('The same, as they became; null for what is gone.', { role: 'developer' }),
    ),
    request_id: z.string().nullable(),
    client_address: z.string().nullable().meta(said('Where it came from.', '203.0.113.7')),
    created_at: z.iso.datetime(),
  })
  .meta({ ref: 'OrganizationChange' })

export const OrganizationTrail = z
  .object({ changes: z.array(OrganizationChange), pagination: Pagination })
  .meta({ ref: 'OrganizationTrail' })
