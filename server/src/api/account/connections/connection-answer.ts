import type { Selectable } from 'kysely'
import { toLimitColumns } from './limit-columns'
import type { Connection } from './schema'
import type { ConnectionRow } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { toNetworkAnswer } from './network-columns'

/** Shows a connection; its limits, its key and its errors only to those who may change it. */
export const toConnection = (
  row: Selectable<ConnectionRow>,
  { isManager }: { isManager: boolean },
): Omit<Connection, 'timeouts'> => ({
  id: row.id,
  name: row.name,
  provider: row.provider,
  endpoint_url: row.endpoint_url,
  gateway_type: row.gateway_type,
  gateway_id: row.gateway_id,
  status: row.status,
  scope: row.scope === 'organization' ? 'organization' : 'individual',
  organization_id: row.organization_id,
  billing_mode: row.billing_mode,
  is_default: row.is_default,
  priority: row.priority,
  rate_limits: isManager ? toLimitColumns(row) : null,
  network: isManager ? toNetworkAnswer(row.network) : null,
  model_count: row.model_count,
  api_key_prefix: isManager ? row.api_key_prefix : null,
  last_error: isManager ? row.last_error : null,
  last_tested_at: row.last_tested_at && toTimestamp(row.last_tested_at),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
