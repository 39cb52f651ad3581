import { z } from 'zod'
import { objectId } from '../../../http/answers'
import { line } from '../../../http/fields'
import { Pagination } from '../../../http/paging'
import { auditDestinationKinds } from '../../../platform/db/audit-destination-schema'

/** The most destinations of an organization, and of the installation. */
export const maxAuditDestinations = 10

const name = line(100)
const url = z
  .string()
  .trim()
  .max(1000)
  .describe(
    'The address of a webhook, or `tls://siem.example.com:6514` for a syslog server. It is shown without its path and query',
  )
const kind = z.enum(auditDestinationKinds)

/** A new destination of audit logs. Source: contract 9.7. */
export const NewAuditDestination = z
  .object({
    name,
    kind,
    url,
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
  })
  .meta({ ref: 'NewAuditDestination' })
export type NewAuditDestination = z.output<typeof NewAuditDestination>

export const ChangedAuditDestination = z
  .object({ name: name.optional(), url: url.optional(), enabled: z.boolean().optional() })
  .meta({ ref: 'ChangedAuditDestination' })
export type ChangedAuditDestination = z.output<typeof ChangedAuditDestination>

const described = {
  id: objectId('sink'),
  name: z.string(),
  kind,
  url: z.string().describe('Scheme, host and port, without the path, which may grant access'),
  enabled: z.boolean().describe('While false, entries wait.'),
  waiting: z.int().describe('Entries that it has not taken yet, at most 100,000'),
  oldest_waiting_at: z.iso.datetime().nullable(),
  delivered: z.int().describe('Entries that it has taken'),
  last_delivered_at: z.iso.datetime().nullable(),
  failing_since: z.iso.datetime().nullable(),
  last_error: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

export const AuditDestination = z.object(described).meta({ ref: 'AuditDestination' })

export const AuditDestinationWithKey = z
  .object({
    ...described,
    secret: z
      .string()
      .nullable()
      .describe('Key of the signatures, shown only here; null for syslog servers'),
  })
  .meta({ ref: 'AuditDestinationWithKey' })

export const AuditDestinationList = z
  .object({ destinations: z.array(AuditDestination), pagination: Pagination })
  .meta({ ref: 'AuditDestinationList' })
