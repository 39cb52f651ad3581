import type { Kysely, Selectable } from 'kysely'
import { foundBy } from '../db/account-row'
import type { AutomationSessionRow } from '../db/automation-schema'
import { isId } from '../db/id'
import type { Schema } from '../db/schema'
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

/** Rejects with `resource_not_found` for unknown and foreign ids. */
export async function findSession(
  db: Kysely<Schema>,
  userId: string,
  id: string,
): Promise<SessionRow> {
  return foundBy('sess', id, () =>
    db
      .selectFrom('automation_session')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst(),
  )
}

export const unfinished = ['active', 'paused'] as const

/** What a final state, or a pause, refuses. */
export const wrongState = ({ status }: Pick<SessionRow, 'status'>) =>
  invalidRequest('status', 'wrong_state', `status: the session is ${status}.`)

/** Whether an account may call a connection: its own, or one of an organization that lets it. */
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
    .where((is) =>
      is.or([
        is('connection.user_id', '=', userId),
        is(
          'connection.organization_id',
          'in',
          is
            .selectFrom('membership')
            .innerJoin('organization', 'organization.id', 'membership.organization_id')
            .select('membership.organization_id')
            .where('membership.user_id', '=', userId)
            .where('membership.status', '=', 'active')
            .where('membership.role', '<>', 'viewer')
            .where('organization.status', '=', 'active'),
        ),
      ]),
    )
    .executeTakeFirst()
  return row !== undefined
}
