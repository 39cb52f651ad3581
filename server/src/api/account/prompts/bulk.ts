import type { Kysely } from 'kysely'
import { deletePrompts, insertPrompts, tooManyPrompts, toPrompt } from './rows'
import type { PromptBulkResult, NewPrompt } from './schema'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { type ApiError, invalidRequest, issues } from '../../../errors'
import type { BulkItem } from '../../../http/bulk'

/** A rejected item. */
interface Failed {
  index: number
  error: ApiError
}

/**
 * Creates prompts, each validated alone; the account's room goes to the first valid ones. Rejects with
 * `invalid_request` at `prompts` when all fail.
 */
export async function createMany(
  db: Kysely<Schema>,
  userId: string,
  items: readonly BulkItem<NewPrompt>[],
): Promise<PromptBulkResult> {
  const failed: Failed[] = []
  const valid: { index: number; prompt: NewPrompt }[] = []
  for (const [index, item] of items.entries()) {
    if ('error' in item) failed.push({ index, error: item.error })
    else valid.push({ index, prompt: item.value })
  }
  const prompts = valid.map(({ prompt }) => prompt)
  const inserted = prompts.length > 0 ? await insertPrompts(db, userId, prompts) : []
  for (const { index } of valid.slice(inserted.length))
    failed.push({ index, error: tooManyPrompts() })
  if (inserted.length === 0) throw allFailed('prompts', failed)
  return toBulkResult(failed, {
    created: inserted.length,
    deleted: 0,
    prompts: inserted.map(toPrompt),
  })
}

/** Deletes prompts, each checked alone. Rejects with `invalid_request` at `ids` when all fail. */
export async function deleteMany(
  db: Kysely<Schema>,
  userId: string,
  items: readonly BulkItem<string>[],
): Promise<PromptBulkResult> {
  const requestedIds = items.map((item) =>
    'value' in item && isId('prompt', item.value) ? item.value : undefined,
  )
  const ids = [...new Set(requestedIds.flatMap((id) => id ?? []))]
  const deletedIds = new Set(ids.length > 0 ? await deletePrompts(db, userId, ids) : [])
  const failed: Failed[] = []
  const deleted = deletedIds.size
  for (const [index, id] of requestedIds.entries()) {
    // An id that is listed twice exists only once.
    if (id === undefined || !deletedIds.delete(id)) failed.push({ index, error: unknownPrompt() })
  }
  if (deleted === 0) throw allFailed('ids', failed)
  return toBulkResult(failed, { created: 0, deleted, prompts: [] })
}

const unknownPrompt = () =>
  invalidRequest(null, 'unknown_value', 'You have no prompt with this id.')

const toBulkResult = (
  failed: readonly Failed[],
  counts: Pick<PromptBulkResult, 'created' | 'deleted' | 'prompts'>,
): PromptBulkResult => ({
  success: failed.length === 0,
  ...counts,
  failed: failed.length,
  errors: failed
    .toSorted((one, other) => one.index - other.index)
    .map(({ index, error: { param, message } }) => ({ index, param, message })),
})

/** Reports the error of the first item for all. */
function allFailed(field: 'prompts' | 'ids', failed: readonly Failed[]): ApiError {
  const [first] = failed.toSorted((one, other) => one.index - other.index)
  const issue = issues.find((code) => code === first?.error.details['issue'])
  return invalidRequest(
    field,
    issue ?? 'bad_format',
    `${field}: all operations failed. The first error: ${first?.error.message}`,
  )
}
