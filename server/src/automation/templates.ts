import { sql, type Kysely, type Selectable } from 'kysely'
import { lockAccount } from '../platform/db/account-row'
import type { ChangedTemplate, NewTemplate } from './template-schema'
import type { AutomationTemplateRow } from '../platform/db/automation-schema'
import { isId, newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { ApiError, invalidRequest } from '../errors'
import { present, toTimestamp } from '../http/fields'
import { containing } from '../http/paging'

const maxTemplates = 200

/** The newest public templates of other accounts are listed; a longer list would be no help in choosing. */
const maxPublic = 500

type Row = Selectable<AutomationTemplateRow>

const toTemplate = (row: Row) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  category: row.category,
  systemPrompt: row.system_prompt,
  modelId: row.model_id,
  enabledTools: row.enabled_tools,
  disabledTools: row.disabled_tools,
  initialMessage: row.initial_message,
  variables: row.variables,
  isPublic: row.is_public,
  isSystem: row.user_id === null,
  usageCount: Number(row.usage_count),
  createdAt: toTimestamp(row.created_at),
  updatedAt: toTimestamp(row.updated_at),
})

const toColumns = (fields: ChangedTemplate) => {
  const { enabledTools: enabled, disabledTools: disabled, variables } = fields
  return present({
    name: fields.name,
    description: fields.description,
    category: fields.category,
    system_prompt: fields.systemPrompt,
    model_id: fields.modelId,
    enabled_tools: enabled && JSON.stringify(enabled),
    disabled_tools: disabled && JSON.stringify(disabled),
    initial_message: fields.initialMessage,
    variables: variables && JSON.stringify(variables),
    is_public: fields.isPublic,
  })
}

/** Finds a template that an account may use: its own, a public one, one of the system. */
export async function findUsableTemplate(
  db: Kysely<Schema>,
  userId: string,
  id: string,
): Promise<Row | undefined> {
  if (!isId('tmpl', id)) return undefined
  return db
    .selectFrom('automation_template')
    .selectAll()
    .where('id', '=', id)
    .where((is) =>
      is.or([is('user_id', '=', userId), is('user_id', 'is', null), is('is_public', '=', true)]),
    )
    .executeTakeFirst()
}

interface Listing {
  category: string | undefined
  search: string | undefined
}

export type TemplateStore = ReturnType<typeof createTemplateStore>

/**
 * Creates the store of templates. All methods reject with `resource_not_found` for unknown ids and those of other
 * accounts.
 */
export function createTemplateStore(db: Kysely<Schema>) {
  return {
    list: (userId: string, listing: Listing) => listTemplates(db, userId, listing),
    create: (userId: string, { name, ...fields }: NewTemplate) =>
      db.transaction().execute(async (trx) => {
        await lockAccount(trx, userId)
        const { total } = await trx
          .selectFrom('automation_template')
          .select(({ fn }) => fn.countAll<bigint>().as('total'))
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow()
        if (total >= maxTemplates) {
          const message = `An account has at most ${maxTemplates} templates.`
          throw invalidRequest(null, 'limit_reached', message)
        }
        const { disabled_tools = '[]', variables = '[]', ...columns } = toColumns(fields)
        const values = { ...columns, disabled_tools, variables, is_public: fields.isPublic }
        const row = await trx
          .insertInto('automation_template')
          .values({ id: newId('tmpl'), user_id: userId, name, ...values })
          .returningAll()
          .executeTakeFirstOrThrow()
        return toTemplate(row)
      }),
    async change(userId: string, id: string, fields: ChangedTemplate) {
      await checkOwn(db, userId, id)
      const row = await db
        .updateTable('automation_template')
        .set({ ...toColumns(fields), updated_at: new Date() })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return toTemplate(row)
    },
    async delete(userId: string, id: string) {
      await checkOwn(db, userId, id)
      await db
        .deleteFrom('automation_template')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .execute()
      return { success: true as const, message: 'The template was deleted.' }
    },
  }
}

/** Another account's public template looks absent; a system template is visible, so the error names it as read-only. */
async function checkOwn(db: Kysely<Schema>, userId: string, id: string): Promise<void> {
  const row = await findUsableTemplate(db, userId, id)
  if (row?.user_id === userId) return
  if (row?.user_id !== null) throw new ApiError('resource_not_found')
  throw new ApiError('insufficient_permissions', {
    message: 'This is a system template and cannot be changed.',
    details: { required: ['operator'], current: [] },
  })
}

async function listTemplates(db: Kysely<Schema>, userId: string, { category, search }: Listing) {
  const like = containing(search ?? '')
  const filtered = db
    .selectFrom('automation_template')
    .$if(category !== undefined, (all) => all.where('category', '=', category ?? ''))
    .$if(search !== undefined, (all) =>
      all.where((is) => is.or([is('name', 'ilike', like), is('description', 'ilike', like)])),
    )
  const open = filtered
    .select('id')
    .where('is_public', '=', true)
    .where('user_id', '<>', userId)
    .orderBy('id', 'desc')
    .limit(maxPublic)
  const rows = await filtered
    .selectAll()
    .where((is) =>
      is.or([
        is('user_id', '=', userId),
        is('user_id', 'is', null),
        is('id', 'in', sql<string>`(select id from ${open} as open)`),
      ]),
    )
    .orderBy('id', 'desc')
    .execute()
  return { templates: rows.map(toTemplate) }
}
