import type { Kysely } from 'kysely'
import type { ProvisioningDirectory } from './directory'
import { recordChange, type Action, type RecordedFields } from '../audit-log/organization-trail'
import type { Schema } from '../platform/db/schema'

interface ScimChange {
  action: Action
  objectId: string
  objectName: string
  /** Nothing of a person: an erasure removes the name of the object alone. */
  after?: RecordedFields
}

/** Records a change in the audit log of the organization whose directory made it; operators' logs have all. */
export async function recordScimChange(
  db: Kysely<Schema>,
  { organizationId }: ProvisioningDirectory,
  change: ScimChange,
): Promise<void> {
  if (organizationId !== null) await recordChange(db, { organizationId, ...change })
}
