import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { pageFields, Pagination } from '../../../http/paging'
import { searchText } from '../../../http/query'
import { timestamp } from '../../../http/fields'

const text = z.string().max(256).optional()

const filters = {
  actor: text.describe(
    'Only changes of this account; `operator_key` for those with the operator key',
  ),
  object_kind: text
    .describe('Only changes of objects of this kind')
    .meta({ examples: ['user', 'organization', 'plan', 'model'] }),
  object_id: text.describe(
    'Only changes of this object, and of others that name it: keys of an account, credits for it',
  ),
  from: timestamp.optional().describe('Only changes from this time on'),
  to: timestamp.optional().describe('Only changes before this time'),
  search: searchText(
    'Text in the route, the body, the objects, the client address or the e-mail address',
  ),
}
/** The query of the list, and that of the download. */
export const TrailFilter = z.object({ ...filters, ...pageFields })
export const ExportedTrailFilter = z.object(filters)
export type TrailFilter = z.output<typeof ExportedTrailFilter>

const described = {
  id: objectId('trail'),
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
}
const Change = z.object({
  ...described,
  names: z
    .record(z.string(), z.string())
    .describe('Current names of the objects in `concerned`, by id; deleted ones are absent.'),
})

/** A line of the download. */
export const OperatorEntryLine = z.object({ log: z.literal('operators'), ...described })

export const TrailList = z
  .object({ changes: z.array(Change), pagination: Pagination })
  .meta({ ref: 'OperatorChangeList' })
