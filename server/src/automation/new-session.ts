import { sql, type Kysely, type Selectable } from 'kysely'
import { lockAccount } from '../platform/db/account-row'
import type { NewSession } from './schema'
import { isUsableConnection, unfinished, findUsableGateway, type SessionRow } from './session-rows'
import { fillTemplate } from './template-text'
import { findUsableTemplate } from './templates'
import type { AutomationTemplateRow } from '../platform/db/automation-schema'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { ApiError, invalidRequest } from '../errors'

const maxUnfinished = 500

export interface SessionPorts {
  db: Kysely<Schema>
  /** Rejects as a chat with a model name would, over one connection where that is given. */
  checkChat: (userId: string, name: string, connectionId: string | undefined) => Promise<void>
}

type Called = Pick<SessionRow, 'user_id' | 'connection_id'>

/** Rejects with `model_not_found`, and as a call for the model would. */
export async function checkModel({ checkChat }: SessionPorts, session: Called, modelId: string) {
  try {
    await checkChat(session.user_id, modelId, session.connection_id ?? undefined)
  } catch (thrown) {
    throw thrown instanceof ApiError ? ofModelId(thrown, modelId) : thrown
  }
}

/** Converts errors about a name: here a name without a target does not exist. Source: contract 1.4. */
function ofModelId(error: ApiError, modelId: string): ApiError {
  const extra = { message: error.message, param: 'modelId' }
  switch (error.code) {
    case 'invalid_model':
    case 'model_not_found':
      return new ApiError('model_not_found', extra)
    case 'model_access_denied':
      return new ApiError('model_access_denied', { ...extra, details: { model: modelId } })
    case 'organization_required':
      return new ApiError('organization_required', extra)
    case 'invalid_request':
      return invalidRequest('modelId', 'unsupported_by_model', error.message)
    default:
      return error
  }
}

type TemplateRow = Selectable<AutomationTemplateRow>

/** The defaults of a session without a template. */
const blank: Pick<
  TemplateRow,
  'name' | 'model_id' | 'system_prompt' | 'enabled_tools' | 'disabled_tools' | 'initial_message'
> = {
  name: '',
  model_id: null,
  system_prompt: null,
  enabled_tools: null,
  disabled_tools: [],
  initial_message: null,
}

/** Fields that are not given come from the template. */
function merged(fields: NewSession, template: typeof blank) {
  const { variables = {} } = fields
  const text = (value: string | null) => (value ? fillTemplate(value, variables) : null)
  const modelId = fields.modelId ?? template.model_id
  if (!modelId) {
    throw invalidRequest(
      'modelId',
      'required',
      'modelId: required, because the template does not set a model.',
    )
  }
  const enabled = fields.enabledTools ?? template.enabled_tools
  return {
    modelId,
    initialMessage: text(template.initial_message),
    columns: {
      name: (fields.name ?? template.name) || null,
      model_id: modelId,
      system_prompt: fields.systemPrompt ?? text(template.system_prompt),
      enabled_tools: enabled && JSON.stringify(enabled),
      disabled_tools: JSON.stringify(fields.disabledTools ?? template.disabled_tools),
    },
  }
}

/**
 * Checks that a gateway can be used. Rejects with `resource_not_found`, and with `gateway_unavailable` for one that is
 * not online.
 */
async function checkGateway(db: Kysely<Schema>, userId: string, id: string): Promise<void> {
  const status = await findUsableGateway(db, userId, id)
  if (status === undefined) throw new ApiError('resource_not_found')
  if (status === 'online') return
  const message = `The gateway is not online: ${status}.`
  throw new ApiError('gateway_unavailable', { message, retryAfterSeconds: 2 })
}

/** Creates a session. Rejects with the errors that contract 8.1 names. */
export async function createSession(ports: SessionPorts, userId: string, fields: NewSession) {
  const { db } = ports
  const { templateId, connectionId, gatewayId, sessionType } = fields
  const template =
    templateId === undefined ? undefined : await findUsableTemplate(db, userId, templateId)
  if (templateId !== undefined && !template) throw new ApiError('resource_not_found')
  const { modelId, initialMessage, columns } = merged(fields, template ?? blank)
  if (gatewayId !== undefined) await checkGateway(db, userId, gatewayId)
  if (connectionId !== undefined && !(await isUsableConnection(db, userId, connectionId))) {
    throw new ApiError('resource_not_found')
  }
  const connection_id = connectionId ?? null
  await checkModel(ports, { user_id: userId, connection_id }, modelId)
  const values = {
    id: newId('sess'),
    user_id: userId,
    session_type: sessionType,
    gateway_id: gatewayId ?? null,
    connection_id,
    template_id: template?.id ?? null,
    message_count: initialMessage === null ? 0 : 1,
    ...columns,
  }
  return insert(db, values, initialMessage)
}

interface Values {
  id: string
  user_id: string
  session_type: NewSession['sessionType']
  gateway_id: string | null
  model_id: string
  disabled_tools: string
  template_id: string | null
}

const insert = (db: Kysely<Schema>, values: Values, initialMessage: string | null) =>
  db.transaction().execute(async (trx) => {
    const { id, user_id, template_id } = values
    await lockAccount(trx, user_id)
    const { total } = await trx
      .selectFrom('automation_session')
      .select(({ fn }) => fn.countAll<bigint>().as('total'))
      .where('user_id', '=', user_id)
      .where('status', 'in', unfinished)
      .executeTakeFirstOrThrow()
    if (total >= maxUnfinished) {
      const message = `The limit of ${maxUnfinished} unfinished sessions is reached. Complete some first.`
      throw invalidRequest(null, 'limit_reached', message)
    }
    const row = await trx
      .insertInto('automation_session')
      .values(values)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (template_id !== null) {
      await trx
        .updateTable('automation_template')
        .set({ usage_count: sql`usage_count + 1` })
        .where('id', '=', template_id)
        .execute()
    }
    if (initialMessage === null) return row
    const firstMessage = { role: 'user' as const, content: initialMessage, tokens: 0n }
    await trx
      .insertInto('automation_message')
      .values({ id: newId('msg'), session_id: id, user_id, position: 0, ...firstMessage })
      .execute()
    return row
  })
