import type { Kysely } from 'kysely'
import { deletePrompts, insertPrompts, tooMany, toPrompt } from './rows'
import { NewPrompt, type BulkDone } from './schema'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest, issues } from '../../../errors'
import { check, isObject } from '../../../wire/json-body'

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
  items: readonly unknown[],
): Promise<BulkDone> {
  const failed: Failed[] = []
  const fine: { index: number; prompt: NewPrompt }[] = []
  for (const [index, item] of items.entries()) {
    try {
      fine.push({ index, prompt: check(NewPrompt, withoutNulls(item)) })
    } catch (thrown) {
      failed.push({ index, error: asFailure(thrown) })
    }
  }
  const prompts = fine.map(({ prompt }) => prompt)
  const made = prompts.length > 0 ? await insertPrompts(db, userId, prompts) : []
  for (const { index } of fine.slice(made.length)) failed.push({ index, error: tooMany() })
  if (made.length === 0) throw allFailed('prompts', failed)
  return toDone(failed, { created: made.length, deleted: 0, prompts: made.map(toPrompt) })
}

/** Deletes prompts, each checked alone. Rejects with `invalid_request` at `ids` when all fail. */
export async function deleteMany(
  db: Kysely<Schema>,
  userId: string,
  items: readonly unknown[],
): Promise<BulkDone> {
  const wanted = items.map((item) =>
    typeof item === 'string' && isId('prompt', item) ? item : undefined,
  )
  const ids = [...new Set(wanted.flatMap((id) => id ?? []))]
  const gone = new Set(ids.length > 0 ? await deletePrompts(db, userId, ids) : [])
  const failed: Failed[] = []
  const deleted = gone.size
  for (const [index, id] of wanted.entries()) {
    // An id that is listed twice exists only once.
    if (id === undefined || !gone.delete(id)) failed.push({ index, error: notThere() })
  }
  if (deleted === 0) throw allFailed('ids', failed)
  return toDone(failed, { created: 0, deleted, prompts: [] })
}

const notThere = () => invalidRequest(null, 'unknown_value', 'You have no prompt with this id.')

/** Null for an optional field is the same as none. */
const withoutNulls = (item: unknown): unknown =>
  isObject(item)
    ? Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
    : item

function asFailure(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}

const toDone = (
  failed: readonly Failed[],
  done: Pick<BulkDone, 'created' | 'deleted' | 'prompts'>,
): BulkDone => ({
  success: failed.length === 0,
  ...done,
  failed: failed.length,
  errors: failed
    .toSorted((one, other) => one.index - other.index)
    .map(({ index, error: { param, message } }) => ({ index, param, message })),
})

/** Reports the error of the first item for all. */
function allFailed(field: 'prompts' | 'ids', failed: readonly Failed[]): ApiError {
  const [first] = failed.toSorted((one, other) => one.index - other.index)
  const issue = issues.find((known) => known === first?.error.details['issue'])
  return invalidRequest(
    field,
    issue ?? 'bad_format',
    `${field}: none was done. ${first?.error.message}`,
  )
}
