import { z } from 'zod'
import { timestamp } from '../../http/fields'

const text = z.string().max(256).optional()

/** What the list may be narrowed to. */
export const TrailFilter = z.object({
  /** An account's id, or `operator_key`. */
  actor: text,
  /** `user`, `organization`, `plan`, `model`, … */
  object_kind: text,
  /** Changes that name it, also where they are about another: keys of an account, credits for it. */
  object_id: text,
  from: timestamp.optional(),
  /** Not this moment itself. */
  to: timestamp.optional(),
})
export type TrailFilter = z.output<typeof TrailFilter>
