import type { Selectable, Transaction } from 'kysely'
import type { Pricing } from '../../../catalog/model'
import { toPricingAnswer } from '../../../catalog/pricing-fields'
import { toLimitColumns } from './limit-columns'
import { toNetworkAnswer } from './network-columns'
import { toTimeoutAnswer } from './timeout-fields'
import type { ConnectionRow, Schema } from '../../../platform/db/schema'
import {
  recordChange,
  type Action,
  type RecordedFields,
} from '../../../audit-log/organization-trail'

type Row = Selectable<ConnectionRow>

/** The fields of a connection in an organization's audit log, without its key and its usage. */
export const connectionAuditFields = (row: Row): RecordedFields => ({
  name: row.name,
  provider: row.provider,
  endpoint_url: row.endpoint_url,
  timeouts: toTimeoutAnswer(row.options),
  network: toRecordedNetwork(row.network),
  status: row.status,
  billing_mode: row.billing_mode,
  is_default: row.is_default,
  priority: row.priority,
  ...toLimitColumns(row),
})

/** Fields called headers are secrets to the audit log, and these are names. */
function toRecordedNetwork(stored: Row['network']) {
  const network = toNetworkAnswer(stored)
  if (!network) return null
  const { headers, ...certificates } = network
  return { ...certificates, header_names: headers }
}

interface Change {
  row: Pick<Row, 'id' | 'name' | 'organization_id'>
  before?: RecordedFields
  after?: RecordedFields
}

/** Records a change of an organization's connection; an account's changes to its own are not recorded. */
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
  /** The model's id. */
  model: string
  before: Pricing | null
  after: Pricing | null
}

/** Records a price change of a model of an organization's connection, with the earlier price. */
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
