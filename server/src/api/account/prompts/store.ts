import { sql, type Kysely } from 'kysely'
import { requireRow } from '../../../platform/db/account-row'
import { createMany, deleteMany } from './bulk'
import { deletePrompts, insertPrompts, tooManyPrompts, toPrompt } from './rows'
import type { ChangedPrompt, NewPrompt } from './schema'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError } from '../../../errors'
import type { BulkItem } from '../../../http/bulk'
import { present } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import { containing, type Page } from '../../../http/paging'

interface Filter {
  search?: string | undefined
  category?: string | undefined
  tag?: string | undefined
  is_favorite?: boolean | undefined
}

export type PromptStore = ReturnType<typeof createPromptStore>

/** The prompts of accounts. All reject with `resource_not_found` for unknown and foreign ids. */
export const createPromptStore = (db: Kysely<Schema>) => ({
  list: (userId: string, page: Page, filter: Filter) => listPrompts(db, userId, { page, filter }),
  async create(userId: string, prompt: NewPrompt) {
    const [row] = await insertPrompts(db, userId, [prompt])
    if (!row) throw tooManyPrompts()
    return toPrompt(row)
  },
  change: (userId: string, id: string, fields: ChangedPrompt) =>
    changePrompt(db, { userId, id, fields }),
  async delete(userId: string, id: string) {
    const deletedIds = isId('prompt', id) ? await deletePrompts(db, userId, [id]) : []
    if (deletedIds.length === 0) throw new ApiError('resource_not_found')
    return { success: true as const, message: 'The prompt was deleted.' }
  },
  createMany: (userId: string, items: readonly BulkItem<NewPrompt>[]) =>
    createMany(db, userId, items),
  deleteMany: (userId: string, items: readonly BulkItem<string>[]) => deleteMany(db, userId, items),
})

interface PromptListing {
  page: Page
  filter: Filter
}

async function listPrompts(db: Kysely<Schema>, userId: string, { page, filter }: PromptListing) {
  const { search, category, tag, is_favorite: favorite } = filter
  const filtered = db
    .selectFrom('prompt')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(Boolean(search), (query) =>
      query.where((is) =>
        is.or(
          (['title', 'content', 'description'] as const).map((column) =>
            is(column, 'ilike', containing(search ?? '')),
          ),
        ),
      ),
    )
    .$if(category !== undefined, (query) => query.where('category', '=', category ?? ''))
    .$if(tag !== undefined, (query) => query.where(sql<boolean>`${tag} = any(tags)`))
    .$if(favorite !== undefined, (query) => query.where('is_favorite', '=', favorite ?? false))
  const { items, pagination } = await queryPage(db, filtered, { page })
  return { prompts: items.map(toPrompt), pagination }
}

interface Change {
  userId: string
  id: string
  fields: ChangedPrompt
}

/** Using a prompt is no change: `updated_at` stays. */
async function changePrompt(db: Kysely<Schema>, { userId, id, fields }: Change) {
  const { used, ...changed } = fields
  const columns = present(changed)
  const isChanged = Object.keys(columns).length > 0
  const row = await requireRow('prompt', id, () =>
    db
      .updateTable('prompt')
      .set((is) => ({
        ...columns,
        ...(isChanged && { updated_at: new Date() }),
        usage_count: is('usage_count', '+', used ? 1n : 0n),
      }))
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returningAll()
      .executeTakeFirst(),
  )
  return toPrompt(row)
}
