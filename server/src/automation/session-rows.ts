import { sql, type Kysely, type Selectable } from 'kysely'
import { requireRow } from '../platform/db/account-row'
import type { AutomationSessionRow } from '../platform/db/automation-schema'
import { gatewayStatus } from '../platform/db/gateway-row'
import { isId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { invalidRequest } from '../errors'
import { toTimestamp } from '../http/fields'
import { toUsd } from '../wire/usd'

export type SessionRow = Selectable<AutomationSessionRow>

export const toSession = (row: SessionRow) => ({
  id: row.id,
  name: row.name,
  sessionType: row.session_type,
  status: row.status,
  gatewayId: row.gateway_id,
  modelId: row.model_id,
  connectionId: row.connection_id,
  templateId: row.template_id,
  systemPrompt: row.system_prompt,
  enabledTools: row.enabled_tools,
  disabledTools: row.disabled_tools,
  messageCount: row.message_count,
  totalTokens: { input: Number(row.input_tokens), output: Number(row.output_tokens) },
  totalCost: toUsd(row.cost),
  summary: row.summary,
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
  lastActivityAt: row.last_activity_at && toTimestamp(row.last_activity_at),
  completedAt: row.completed_at && toTimestamp(row.completed_at),
})

/** Finds a session. Rejects with `resource_not_found` for unknown ids and those of other accounts. */
export async function findSession(
  db: Kysely<Schema>,
  userId: string,
  id: string,
): Promise<SessionRow> {
  return requireRow('sess', id, () =>
    db
      .selectFrom('automation_session')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst(),
  )
}

export const unfinished = ['active', 'paused'] as const

/** The error for a change that a final state, or a pause, does not allow. */
export const wrongState = ({ status }: Pick<SessionRow, 'status'>) =>
  invalidRequest('status', 'wrong_state', `status: the session is ${status}.`)

/** Matches objects of the account, or of an organization that lets it call models. */
const isUsedBy = (table: 'connection' | 'gateway', userId: string) =>
  sql<boolean>`(${sql.ref(`${table}.user_id`)} = ${userId}
    or ${sql.ref(`${table}.organization_id`)} in (
      select membership.organization_id from membership
      join organization on organization.id = membership.organization_id
      where membership.user_id = ${userId} and membership.status = 'active'
        and membership.role <> 'viewer' and organization.status = 'active'
    ))`

/** Checks that an account may call a connection: its own, or one of an organization that lets it. */
export async function isUsableConnection(
  db: Kysely<Schema>,
  userId: string,
  id: string,
): Promise<boolean> {
  if (!isId('conn', id)) return false
  const row = await db
    .selectFrom('connection')
    .select('id')
    .where('id', '=', id)
    .where(isUsedBy('connection', userId))
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the status of a self-hosted gateway that the account may use; undefined for any other. */
export async function findUsableGateway(db: Kysely<Schema>, userId: string, id: string) {
  if (!isId('gw', id)) return undefined
  const row = await db
    .selectFrom('gateway')
    .select(gatewayStatus.as('status'))
    .where('id', '=', id)
    .where(isUsedBy('gateway', userId))
    .executeTakeFirst()
  return row?.status
}
