import type { Kysely, Selectable } from 'kysely'
import { lockAccount } from '../../../platform/db/account-row'
import type { NewPrompt, Prompt } from './schema'
import { variablesOf } from './variables'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { PromptRow } from '../../../platform/db/support-schema'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

const maxPrompts = 5000

export const tooManyPrompts = () =>
  invalidRequest(null, 'limit_reached', `An account has at most ${maxPrompts} prompts.`)

export const toPrompt = (row: Selectable<PromptRow>): Prompt => ({
  id: row.id,
  title: row.title,
  content: row.content,
  description: row.description,
  category: row.category,
  tags: row.tags,
  variables: variablesOf(row.content),
  is_favorite: row.is_favorite,
  usage_count: Number(row.usage_count),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

/** Inserts the first prompts, as many as the account's limit leaves room for, in the given order. */
export const insertPrompts = (
  db: Kysely<Schema>,
  userId: string,
  prompts: readonly NewPrompt[],
): Promise<Selectable<PromptRow>[]> =>
  db.transaction().execute(async (trx) => {
    const capacity = maxPrompts - (await countPrompts(trx, userId))
    const rows = prompts.slice(0, Math.max(0, capacity)).map((prompt) => ({
      ...prompt,
      id: newId('prompt'),
      user_id: userId,
      description: prompt.description ?? null,
      category: prompt.category ?? null,
    }))
    if (rows.length === 0) return []
    const inserted = await trx.insertInto('prompt').values(rows).returningAll().execute()
    const byId = new Map(inserted.map((row) => [row.id, row]))
    return rows.flatMap(({ id }) => byId.get(id) ?? [])
  })

/** Counts the prompts of an account, and locks it against additions until the transaction ends. */
async function countPrompts(trx: Kysely<Schema>, userId: string): Promise<number> {
  await lockAccount(trx, userId)
  const { total } = await trx
    .selectFrom('prompt')
    .where('user_id', '=', userId)
    .select(({ fn }) => fn.countAll<bigint>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

/** Resolves with the ids of the prompts that existed. */
export async function deletePrompts(
  db: Kysely<Schema>,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  const deleted = await db
    .deleteFrom('prompt')
    .where('id', 'in', ids)
    .where('user_id', '=', userId)
    .returning('id')
    .execute()
  return deleted.map(({ id }) => id)
}
