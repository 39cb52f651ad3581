import type { Selectable, Transaction } from 'kysely'
import type { Pricing } from '../../catalog/model'
import { toPricingAnswer } from '../../catalog/pricing-fields'
import type { ConnectionRow, Schema } from '../../db/schema'
import { recordChange, type Action, type RecordedFields } from '../../audit-log/organization-trail'

type Row = Selectable<ConnectionRow>

/** What the trail of an organization tells of a connection: nothing of its key, and no traces of its use. */
export const toldConnection = (row: Row): RecordedFields => ({
  name: row.name,
  provider: row.provider,
  endpoint_url: row.endpoint_url,
  status: row.status,
  billing_mode: row.billing_mode,
  is_default: row.is_default,
  priority: row.priority,
  rpm: row.rpm,
  tpm: row.tpm,
})

interface Change {
  row: Pick<Row, 'id' | 'name' | 'organization_id'>
  before?: RecordedFields
  after?: RecordedFields
}

/** What an account does with a connection of its own is nobody's business. */
export async function recordConnection(
  trx: Transaction<Schema>,
  action: Action,
  { row, ...states }: Change,
): Promise<void> {
  const { id, name, organization_id: organizationId } = row
  if (organizationId === null) return
  await recordChange(trx, { organizationId, action, objectId: id, objectName: name, ...states })
}

interface NewPrice {
  row: Pick<Row, 'id' | 'organization_id'>
  /** Its id. */
  model: string
  before: Pricing | null
  after: Pricing | null
}

/** What a model of an organization's connection costs from now on, and what it cost. */
export async function recordPrice(
  trx: Transaction<Schema>,
  { row: { id, organization_id: organizationId }, model, before, after }: NewPrice,
): Promise<void> {
  if (organizationId === null) return
  await recordChange(trx, {
    organizationId,
    action: after ? 'price.set' : 'price.removed',
    objectId: id,
    objectName: model,
    ...(before && { before: toPricingAnswer(before) }),
    ...(after && { after: toPricingAnswer(after) }),
  })
}
