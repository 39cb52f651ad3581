import { z } from 'zod'
import { Pagination } from '../../../http/documentation'
import { timestamp } from '../../../http/fields'

const text = z.string().max(256).optional()

/** Filters of the list. */
export const TrailFilter = z.object({
  /** An account's id, or `operator_key`. */
  actor: text,
  /** `user`, `organization`, `plan`, `model`, … */
  object_kind: text,
  /** Includes changes of another object that name it: keys of an account, credits for it. */
  object_id: text,
  from: timestamp.optional(),
  /** Exclusive. */
  to: timestamp.optional(),
})
export type TrailFilter = z.output<typeof TrailFilter>

const Change = z.object({
  id: z.string(),
  actor: z.string().describe('An account, or `operator_key`.'),
  actor_email: z.string().nullable(),
  method: z.string(),
  route: z.string(),
  object_kind: z.string(),
  object_id: z.string().nullable(),
  concerned: z.array(z.string()),
  sent: z.record(z.string(), z.unknown()).nullable().describe('Without secrets.'),
  request_id: z.string(),
  client_address: z.string().nullable(),
  created_at: z.iso.datetime(),
})

export const TrailList = z
  .object({ changes: z.array(Change), pagination: Pagination })
  .meta({ ref: 'OperatorChangeList' })
