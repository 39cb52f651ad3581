import type { Selectable, Transaction } from 'kysely'
import type { GatewayRow } from '../../../platform/db/gateway-schema'
import type { Schema } from '../../../platform/db/schema'
import {
  recordChange,
  type Action,
  type RecordedFields,
} from '../../../audit-log/organization-trail'

type Row = Pick<Selectable<GatewayRow>, 'id' | 'name' | 'is_public' | 'organization_id'>

const auditFields = ({ name, is_public }: Row): RecordedFields => ({ name, is_public })

/** Records a change of an organization's gateway; an account's changes to its own are not recorded. */
export async function recordGateway(
  trx: Transaction<Schema>,
  action: Extract<Action, `gateway.${string}`>,
  row: Row,
): Promise<void> {
  const { id, name, organization_id: organizationId } = row
  if (organizationId === null) return
  const state =
    action === 'gateway.created' ? { after: auditFields(row) } : { before: auditFields(row) }
  await recordChange(trx, { organizationId, action, objectId: id, objectName: name, ...state })
}
