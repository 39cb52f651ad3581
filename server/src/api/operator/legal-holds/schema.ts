import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { trimmed } from '../../../http/fields'
import { pageFields, Pagination } from '../../../http/paging'
import { flag } from '../../../http/query'

/** A new legal hold. Source: contract 9.8. */
export const NewLegalHold = z
  .object({
    subject_id: objectId('user').max(100).describe('ID of an account or an organization'),
    reason: trimmed(500),
  })
  .meta({ ref: 'NewLegalHold' })
export type NewLegalHold = z.output<typeof NewLegalHold>

export const LegalHoldFilter = z.object({
  subject_id: z.string().max(100).optional().describe('Only holds on this account or organization'),
  active: flag.optional().describe('Only holds that last, or only those that have ended'),
  ...pageFields,
})
export type LegalHoldFilter = Omit<z.output<typeof LegalHoldFilter>, keyof typeof pageFields>

export const LegalHold = z
  .object({
    id: objectId('hold'),
    subject_id: z.string(),
    subject_name: z
      .string()
      .nullable()
      .describe('The address of the account or the name of the organization'),
    reason: z.string(),
    created_by: z.string().describe('An account, or `operator_key`'),
    created_at: z.iso.datetime(),
    ended_by: z.string().nullable(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'LegalHold' })

export const LegalHoldList = z
  .object({ holds: z.array(LegalHold), pagination: Pagination })
  .meta({ ref: 'LegalHoldList' })
