import type { Kysely } from 'kysely'
import type { StoredDestination } from './answer'
import { recordChange, type RecordedFields } from '../../../audit-log/organization-trail'
import type { Schema } from '../../../platform/db/schema'

const auditFields = ({ name, kind, shown_url: url, events, enabled }: StoredDestination) => ({
  name,
  kind,
  url,
  events,
  enabled,
})

interface States {
  before?: StoredDestination
  after?: StoredDestination
}

/** Records a change of an organization's destination in its audit log; those of accounts have none. */
export async function recordDestination(
  trx: Kysely<Schema>,
  deed: 'created' | 'changed' | 'deleted',
  { before, after }: States,
): Promise<void> {
  const row = after ?? before
  if (row) {
    await record(trx, row, {
      deed,
      ...(before && { before: auditFields(before) }),
      ...(after && { after: auditFields(after) }),
    })
  }
}

/** Records that the key of the signatures was replaced. */
export const recordRotation = (trx: Kysely<Schema>, row: StoredDestination) =>
  record(trx, row, { deed: 'changed', after: { secret: 'new' } })

interface Recorded {
  deed: 'created' | 'changed' | 'deleted'
  before?: RecordedFields
  after?: RecordedFields
}

async function record(
  trx: Kysely<Schema>,
  { id, name, organization_id: organizationId }: StoredDestination,
  { deed, ...fields }: Recorded,
): Promise<void> {
  if (organizationId === null) return
  await recordChange(trx, {
    organizationId,
    action: `notification_destination.${deed}`,
    objectId: id,
    objectName: name,
    ...fields,
  })
}
